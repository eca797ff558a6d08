// npm install srvx
import { fileURLToPath } from 'node:url'
import { H3, HTTPError } from 'h3'
import { staticMiddleware } from 'srvx/static'

// h3's own `serveStatic` leaves reading files to you, and symbolic links.
const files = staticMiddleware({ dir: fileURLToPath(new URL('../public', import.meta.url)) })

/** Lets HTML files load their scripts, styles and images. The policy of the other routes allows nothing. */
const POLICY = "default-src 'self'; frame-ancestors 'none'"

export const staticFiles = new H3().mount('/public', async (request) => {
  const response = await files(request, () => {
    throw new HTTPError({ status: 404 })
  })
  response.headers.set('content-security-policy', POLICY)
  return response
})
