import { shedLoad } from '@startgrid/express/middleware/load-shedding.ts'
import { allowScripts } from '@startgrid/express/middleware/security-headers.ts'
import { Router } from 'express'
import { z } from 'zod'
import { renderFragment } from './fragment.ts'

const Product = z.object({ locale: z.string(), slug: z.string() })

export const partial = Router({ caseSensitive: true, strict: true })

partial.get('/partial/:locale/:slug', shedLoad, (request, response, next) => {
  const { locale, slug } = Product.parse(request.params)
  const fragment = renderFragment(locale, slug)
  if (fragment === undefined) return next()
  allowScripts(response)
  response.type('html').send(fragment)
})
