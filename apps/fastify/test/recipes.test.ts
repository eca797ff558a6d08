import { join } from 'node:path'
import type { AppOptions } from '#shared/app-options.ts'
import { serve } from '#shared/testing/app.ts'
import { testPostgres } from '../../../packages/shared/test/postgres.ts'
import * as recipes from '../../../packages/shared/test/recipes.ts'
import { body } from '../recipes/body.ts'
import { chat } from '../recipes/chat.ts'
import { database } from '../recipes/database.ts'
import { events } from '../recipes/events.ts'
import { postgres } from '../recipes/postgres.ts'
import { relay } from '../recipes/relay.ts'
import { secondPage } from '../recipes/second-page.ts'
import { session } from '../recipes/session.ts'
import { staticFiles } from '../recipes/static.ts'
import { upload } from '../recipes/upload.ts'
import { createApp } from '../src/app.ts'
import { ssr } from '../src/ssr.ts'

async function start(options: AppOptions) {
  const app = createApp(options, async (routes) => {
    for (const recipe of [body, ssr, events, secondPage, staticFiles, upload]) routes.register(recipe)
    routes.register(database, recipes.SETTINGS)
    routes.register(relay, recipes.SETTINGS)
    routes.register(session, recipes.SETTINGS)
  })
  app.register(chat) // as late as possible: its hooks run after the one that waits for `drain`
  await app.ready()
  options.lifecycle.signal.addEventListener('abort', () => void app.close()) // as in server.ts
  return serve(app.server)
}

recipes.testRecipes(join(import.meta.dirname, '..'), start)
testPostgres(async (options, settings) => {
  const app = createApp(options, async (routes) => void routes.register(postgres, settings))
  await app.ready()
  return serve(app.server)
})
