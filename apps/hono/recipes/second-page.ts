import { Hono } from 'hono'
import { renderPage } from '#shared/page/server.js'
import { createNonce, pageHeaders } from '#shared/security.ts'

// A page is a folder beside `shop`, and a line in `pages.ts`: see the README there. Until then, this one shows the shop.
export const secondPage = new Hono().get('/about', async (c) => {
  const nonce = createNonce()
  return c.html(
    await renderPage('shop', { items: 3, requestId: c.get('requestId'), nonce }),
    200,
    pageHeaders(nonce),
  )
})
