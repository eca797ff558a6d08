import { H3, HTTPResponse } from 'h3'
import { renderPage } from '#shared/page/server.js'
import { createNonce, pageHeaders } from '#shared/security.ts'

// A page is a folder beside `shop`, and a line in `pages.ts`: see the README there. Until then, this one shows the shop.
export const secondPage = new H3().get('/about', async ({ context }) => {
  const nonce = createNonce()
  const page = await renderPage('shop', { items: 3, requestId: context.requestId, nonce })
  return new HTTPResponse(page, {
    headers: { ...pageHeaders(nonce), 'content-type': 'text/html; charset=utf-8' },
  })
})
