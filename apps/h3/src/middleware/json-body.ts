import { defineMiddleware, HTTPError } from 'h3'
import { isJson } from '#shared/media-type.ts'

/** For routes that read JSON: h3's readers take any type, also from a form of another site. */
export const requireJson = defineMiddleware(({ req }) => {
  if (!isJson(req.headers.get('content-type'))) throw new HTTPError({ status: 415 })
})
