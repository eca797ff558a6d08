import { join } from 'node:path'
import type { AppOptions } from '#shared/app-options.ts'
import { serve } from '#shared/testing/app.ts'
import * as recipes from '../../../packages/shared/test/recipes.ts' // sets what the recipes read
import { createApp } from '../src/app.ts'
import { ssr } from '../src/ssr.ts'

const { body } = await import('../recipes/body.ts')
const { chat } = await import('../recipes/chat.ts')
const { database } = await import('../recipes/database.ts')
const { events } = await import('../recipes/events.ts')
const { relay } = await import('../recipes/relay.ts')
const { secondPage } = await import('../recipes/second-page.ts')
const { session } = await import('../recipes/session.ts')
const { staticFiles } = await import('../recipes/static.ts')
const { upload } = await import('../recipes/upload.ts')

async function start(options: AppOptions) {
  const app = createApp(options, async (routes) => {
    for (const recipe of [body, ssr, database, events, secondPage, staticFiles, upload])
      routes.register(recipe)
    routes.register(relay, recipes.SETTINGS)
    routes.register(session, recipes.SETTINGS)
  })
  app.register(chat) // as late as possible: its hooks run after the one that waits for `drain`
  await app.ready()
  options.lifecycle.signal.addEventListener('abort', () => void app.close()) // as in server.ts
  return serve(app.server)
}

recipes.testRecipes(join(import.meta.dirname, '..'), start)
