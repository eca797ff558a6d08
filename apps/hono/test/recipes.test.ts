import { deepEqual, equal } from 'node:assert/strict'
import type { Server } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'
import type { AppOptions } from '#shared/app-options.ts'
import { createOptions, ERROR, serve } from '#shared/testing/app.ts'
import { acceptUpgrades } from '#shared/websockets.ts'
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

function start(options: AppOptions) {
  const { routes: chatRoutes, websocket } = chat(options)
  const routes = new Hono()
  for (const part of [
    body,
    ssr,
    chatRoutes,
    database(options, recipes.SETTINGS),
    events,
    relay(recipes.SETTINGS),
    secondPage,
    session(recipes.SETTINGS),
    staticFiles,
  ] as Hono[])
    routes.route('/', part)
  const { fetch } = createApp(options, routes, upload)
  const server = createAdaptorServer({ fetch, websocket }) as Server
  acceptUpgrades(server, '/chat')
  return serve(server)
}

recipes.testRecipes(join(import.meta.dirname, '..'), start)
testPostgres((options, settings) => {
  const { fetch } = createApp(options, postgres(options, settings))
  return serve(createAdaptorServer({ fetch }) as Server)
})

test('events: an error is logged with its request, and its message is not sent', async () => {
  const options = createOptions()
  await using app = await start(options)
  const fail = () => {
    throw new Error('password')
  }
  Object.defineProperty(options.lifecycle, 'signal', { get: fail })
  const response = await fetch(`${app.url}/events`, { headers: { 'x-request-id': 'r-1' } })
  equal(await response.text(), '')
  const line = (await options.readLines(1)).find(({ level }) => level === ERROR)
  deepEqual([line?.requestId, Object(line?.err).message], ['r-1', 'password'])
})
