import type { FastifyPluginAsync } from 'fastify'
import { renderPage } from '#shared/page/server.js'
import { createNonce, pageHeaders } from '#shared/security.ts'

// A page is a folder beside `shop`, and a line in `pages.ts`: see the README there. Until then, this one shows the shop.
export const secondPage: FastifyPluginAsync = async (app) => {
  app.get('/about', async (request, reply) => {
    const nonce = createNonce()
    return reply
      .headers(pageHeaders(nonce))
      .type('text/html; charset=utf-8')
      .send(await renderPage('shop', { items: 3, requestId: request.id, nonce }))
  })
}
