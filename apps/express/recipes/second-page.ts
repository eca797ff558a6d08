import { Router } from 'express'
import { renderPage } from '#shared/page/server.js'
import { createNonce, pageHeaders } from '#shared/security.ts'

export const secondPage = Router()

// A page is a folder beside `shop`, and a line in `pages.ts`: see the README there. Until then, this one shows the shop.
secondPage.get('/about', async (request, response) => {
  const nonce = createNonce()
  response.set(pageHeaders(nonce))
  response.type('html').send(await renderPage('shop', { items: 3, requestId: request.id, nonce }))
})
