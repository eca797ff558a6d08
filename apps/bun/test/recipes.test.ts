import { join } from 'node:path'
import type { AppOptions } from '#shared/app-options.ts'
import * as recipes from '../../../packages/shared/test/recipes.ts' // sets what the recipes read
import { ssr } from '../src/ssr.ts'
import { serve } from './serve.ts'

const { body } = await import('../recipes/body.ts')
const { chat, websocket } = await import('../recipes/chat.ts')
const { database } = await import('../recipes/database.ts')
const { events } = await import('../recipes/events.ts')
const { relay } = await import('../recipes/relay.ts')
const { secondPage } = await import('../recipes/second-page.ts')
const { session } = await import('../recipes/session.ts')
const { staticFiles } = await import('../recipes/static.ts')
const { upload } = await import('../recipes/upload.ts')

const start = (options: AppOptions) =>
  serve(
    options,
    () => ({
      ...body(),
      ...ssr(options),
      ...chat(options),
      ...database(options),
      ...events(options),
      ...relay(recipes.SETTINGS),
      ...secondPage(),
      ...session(options, recipes.SETTINGS),
      ...staticFiles(),
      ...upload(),
    }),
    { websocket, maxRequestBodySize: 2_000_000 },
  )

recipes.testBody(start)
recipes.testSession(start)
recipes.testEvents(start)
recipes.testChat(start)
recipes.testUpload(start)
recipes.testStatic(join(import.meta.dirname, '..'), start)
recipes.testOpenFiles(join(import.meta.dirname, '..'), start)
recipes.testRelay(start)
recipes.testRelayAbort(start)
recipes.testSecondPage(start)
recipes.testDatabase(start)
