import { createServer } from 'node:http'
import { join } from 'node:path'
import multer from '@koa/multer'
import Router from '@koa/router'
import type { AppOptions } from '#shared/app-options.ts'
import { serve } from '#shared/testing/app.ts'
import { testPostgres } from '../../../packages/shared/test/postgres.ts'
import * as recipes from '../../../packages/shared/test/recipes.ts'
import { chat } from '../../node/recipes/chat.ts'
import { body } from '../recipes/body.ts'
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
  const parts = [
    body,
    ssr,
    database(options, recipes.SETTINGS),
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
testPostgres((options, settings) => serve(createApp(options, postgres(options, settings)).callback()))
recipes.testStorage(start, multer.memoryStorage())
