import { createServer } from 'node:http'
import { join } from 'node:path'
import multer from '@koa/multer'
import Router from '@koa/router'
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

function start(options: AppOptions) {
  const parts = [
    body,
    ssr,
    database(options),
    events,
    relay(recipes.SETTINGS),
    secondPage,
    staticFiles,
    upload,
  ]
  const routes = new Router().use(...parts.map((part) => part.routes()))
  const app = createApp(options, routes)
  app.use(session(app, recipes.SETTINGS).routes())
  const server = createServer(app.callback())
  chat(server, options)
  return serve(server)
}

recipes.testRecipes(join(import.meta.dirname, '..'), start)
recipes.testStorage(start, multer.memoryStorage())
