import { createServer } from 'node:http'
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

function start(options: AppOptions) {
  const simple = [
    body,
    ssr,
    events,
    relay(recipes.SETTINGS),
    secondPage,
    session(recipes.SETTINGS),
    staticFiles,
    upload,
  ].flat()
  const server = createServer(createApp(options, [...simple, ...database(options, recipes.SETTINGS)]))
  chat(server, options)
  return serve(server)
}

recipes.testRecipes(join(import.meta.dirname, '..'), start)
testPostgres((options, settings) => serve(createApp(options, postgres(options, settings))))
