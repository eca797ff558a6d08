// npm install @fastify/static
import fastifyStatic from '@fastify/static'
import type { FastifyPluginAsync } from 'fastify'

/** Lets HTML files load their scripts, styles and images. The policy of the other routes allows nothing. */
const POLICY = "default-src 'self'; frame-ancestors 'none'"

export const staticFiles: FastifyPluginAsync = async (app) => {
  await app.register(fastifyStatic, {
    root: new URL('../public', import.meta.url),
    prefix: '/public/',
    decorateReply: false, // another folder may have done it
    setHeaders: (reply) => reply.header('content-security-policy', POLICY),
  })
}
