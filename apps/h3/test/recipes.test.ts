import type { Server } from 'node:http'
import { join } from 'node:path'
import { bodyLimit, H3, serve as serveH3 } from 'h3'
import type { AppOptions } from '#shared/app-options.ts'
import { serve } from '#shared/testing/app.ts'
import * as recipes from '../../../packages/shared/test/recipes.ts' // sets what the recipes read
import { createApp } from '../src/app.ts'
import { ssr } from '../src/ssr.ts'

const { body } = await import('../recipes/body.ts')
const { acceptWebSockets, chat } = await import('../recipes/chat.ts')
const { database } = await import('../recipes/database.ts')
const { events } = await import('../recipes/events.ts')
const { relay } = await import('../recipes/relay.ts')
const { secondPage } = await import('../recipes/second-page.ts')
const { session } = await import('../recipes/session.ts')
const { staticFiles } = await import('../recipes/static.ts')
const { upload } = await import('../recipes/upload.ts')

function start(options: AppOptions) {
  const routes = new H3().use(bodyLimit(64 * 1024), { match: ({ url }) => url.pathname !== '/uploads' })
  for (const part of [
    body,
    ssr,
    chat,
    database(options),
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
