import { join } from 'node:path'
import type { AppOptions } from '#shared/app-options.ts'
import * as recipes from '../../../packages/shared/test/recipes.ts'
import { body } from '../recipes/body.ts'
import { chat, websocket } from '../recipes/chat.ts'
import { database } from '../recipes/database.ts'
import { events } from '../recipes/events.ts'
import { relay } from '../recipes/relay.ts'
import { secondPage } from '../recipes/second-page.ts'
import { session } from '../recipes/session.ts'
import { staticFiles } from '../recipes/static.ts'
import { upload } from '../recipes/upload.ts'
import { ssr } from '../src/ssr.ts'
import { serve } from './serve.ts'

const start = (options: AppOptions) =>
  serve(
    options,
    () => ({
      ...body(),
      ...ssr(options),
      ...chat(options),
      ...database(options, recipes.SETTINGS),
      ...events(options),
      ...relay(recipes.SETTINGS),
      ...secondPage(),
      ...session(options, recipes.SETTINGS),
      ...staticFiles(),
      ...upload(),
    }),
    { websocket, maxRequestBodySize: 2_000_000 },
  )

recipes.testRecipes(join(import.meta.dirname, '..'), start)
