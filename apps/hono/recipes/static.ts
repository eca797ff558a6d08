import { fileURLToPath } from 'node:url'
import { serveStatic } from '@hono/node-server/serve-static'
import { Hono } from 'hono'

/** Lets HTML files load their scripts, styles and images. The policy of the other routes allows nothing. */
const POLICY = "default-src 'self'; frame-ancestors 'none'"

export const staticFiles = new Hono().get(
  '/public/*',
  serveStatic({
    root: fileURLToPath(new URL('..', import.meta.url)), // of which it serves only the folder `public`
    onFound: (_path, c) => c.header('content-security-policy', POLICY),
  }),
)
