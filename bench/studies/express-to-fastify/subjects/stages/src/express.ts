import { createServer as createHttpServer } from 'node:http'
import { createApp } from '@startgrid/express/app.ts'
import type { AppOptions } from '@startgrid/shared/app-options.ts'
import { createNonce, pageHeaders } from '@startgrid/shared/security.ts'
import { serverOptions } from '@startgrid/shared/server.ts'
import { Router } from 'express'
import { renderFragment } from './fragment.ts'

export const partial = Router()

partial.get('/partial/en-US/:slug', (request, response, next) => {
  const fragment = renderFragment(request.params.slug)
  if (fragment === undefined) return next()
  response.set(pageHeaders(createNonce())).type('html').send(fragment)
})

export const createServer = (options: AppOptions) =>
  createHttpServer(serverOptions(options.config), createApp(options, partial))
