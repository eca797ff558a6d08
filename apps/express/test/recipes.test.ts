import { createServer } from 'node:http'
import { join } from 'node:path'
import { Router } from 'express'
import multer from 'multer'
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
  const routes = Router().use(
    body,
    ssr,
    database(options, recipes.SETTINGS),
    events,
    relay(recipes.SETTINGS),
    secondPage,
    session(recipes.SETTINGS),
    staticFiles,
    upload,
  )
  const server = createServer(createApp(options, routes))
  chat(server, options)
  return serve(server)
}

recipes.testRecipes(join(import.meta.dirname, '..'), start)
testPostgres((options, settings) => serve(createApp(options, postgres(options, settings))))
recipes.testStorage(start, multer.memoryStorage())
