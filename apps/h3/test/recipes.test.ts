import type { Server } from 'node:http'
import { join } from 'node:path'
import { bodyLimit, H3, serve as serveH3 } from 'h3'
import type { AppOptions } from '#shared/app-options.ts'
import { serve } from '#shared/testing/app.ts'
import { testPostgres } from '../../../packages/shared/test/postgres.ts'
import * as recipes from '../../../packages/shared/test/recipes.ts'
import { body } from '../recipes/body.ts'
import { acceptWebSockets, chat } from '../recipes/chat.ts'
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

function start(options: AppOptions) {
  const routes = new H3().use(bodyLimit(64 * 1024), { match: ({ url }) => url.pathname !== '/uploads' })
  for (const part of [
    body,
    ssr,
    chat,
    database(options, recipes.SETTINGS),
    events,
    relay(recipes.SETTINGS),
    secondPage,
    session(recipes.SETTINGS),
    staticFiles,
    upload,
  ])
    routes.mount('', part)
  const app = createApp(options, routes)
  const { node } = serveH3(app, {
    manual: true,
    gracefulShutdown: false,
    maxRequestBodySize: 2_000_000,
  })
  const server = node?.server as Server
  acceptWebSockets(server, app, options)
  return serve(server)
}

recipes.testRecipes(join(import.meta.dirname, '..'), start)
testPostgres((options, settings) => {
  const app = createApp(options, postgres(options, settings))
  return serve(serveH3(app, { manual: true, gracefulShutdown: false }).node?.server as Server)
})
