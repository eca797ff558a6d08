import { renderPage } from '#shared/page/server.js'
import { createNonce, pageHeaders } from '#shared/security.ts'
import { idOf } from '../src/middleware/request-id.ts'

// A page is a folder beside `shop`, and a line in `pages.ts`: see the README there. Until then, this one shows the shop.
export const secondPage = () => ({
  '/about': {
    GET: async (request: Request) => {
      const nonce = createNonce()
      const html = await renderPage('shop', { items: 3, requestId: idOf(request), nonce })
      return new Response(html, {
        headers: { 'content-type': 'text/html; charset=utf-8', ...pageHeaders(nonce) },
      })
    },
  },
})
