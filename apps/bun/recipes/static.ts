import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import createError from 'http-errors'

const DIRECTORY = fileURLToPath(new URL('../public/', import.meta.url))

/** Lets HTML files load their scripts, styles and images. The policy of the other routes allows nothing. */
const POLICY = "default-src 'self'; frame-ancestors 'none'"

export const staticFiles = () => ({
  '/public/*': {
    GET: async ({ url }: Request) => {
      const path = join(DIRECTORY, decodeURIComponent(new URL(url).pathname.slice('/public/'.length)))
      const file = Bun.file(path)
      if (!path.startsWith(DIRECTORY) || !(await file.exists())) throw createError(404)
      return new Response(file, { headers: { 'content-security-policy': POLICY } })
    },
  },
})
