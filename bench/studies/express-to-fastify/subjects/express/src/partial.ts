import { createNonce, pageHeaders } from '@startgrid/shared/security.ts'
import { Router } from 'express'
import { renderFragment } from './fragment.ts'

export const partial = Router()

partial.get('/partial/:locale/:slug', (request, response, next) => {
  const { locale, slug } = request.params
  const fragment = renderFragment(locale, slug)
  if (fragment === undefined) return next()
  response.set(pageHeaders(createNonce())).type('html').send(fragment)
})
