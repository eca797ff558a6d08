import { deepEqual, equal } from 'node:assert/strict'
import type { Server } from 'node:http'
import { join } from 'node:path'
import { test } from 'node:test'
import { createAdaptorServer } from '@hono/node-server'
import { Hono } from 'hono'
import type { AppOptions } from '#shared/app-options.ts'
import { createOptions, ERROR, serve } from '#shared/testing/app.ts'
import { acceptUpgrades } from '#shared/websockets.ts'
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

function start(options: AppOptions) {
  const { routes: chatRoutes, websocket } = chat(options)
  const routes = new Hono()
  for (const part of [
    body,
    ssr,
    chatRoutes,
    database(options),
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
