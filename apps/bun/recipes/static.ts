import { join } from 'node:path'
import { unescape as decode } from 'node:querystring' // unlike `decodeURIComponent`, it never throws
import { fileURLToPath } from 'node:url'
import createError from 'http-errors'

const DIRECTORY = fileURLToPath(new URL('../public/', import.meta.url))

/** Lets HTML files load their scripts, styles and images. The policy of the other routes allows nothing. */
const POLICY = "default-src 'self'; frame-ancestors 'none'"

// As a route, `{ dir: './public' }` would have no policy, id and log.
export const staticFiles = () => ({
  '/public/*': {
    GET: async ({ url }: Request) => {
      const path = join(DIRECTORY, decode(new URL(url).pathname.slice('/public/'.length)))
      if (!path.startsWith(DIRECTORY) || path.includes('\0')) throw createError(404)
      const file = Bun.file(path)
      if (!(await file.exists())) throw createError(404)
      return new Response(file, { headers: { 'content-security-policy': POLICY } })
    },
  },
})
