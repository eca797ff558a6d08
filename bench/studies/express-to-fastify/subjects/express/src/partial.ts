import { createNonce, pageHeaders } from '@startgrid/shared/security.ts'
import { Router } from 'express'
import { renderFragment } from './fragment.ts'

export const partial = Router()

partial.get('/partial/en-US/:slug', (request, response, next) => {
  const fragment = renderFragment(request.params.slug)
  if (fragment === undefined) return next()
  response.set(pageHeaders(createNonce())).type('html').send(fragment)
})
