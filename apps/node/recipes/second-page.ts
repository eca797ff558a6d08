import { renderPage } from '#shared/page/server.js'
import { createNonce, pageHeaders } from '#shared/security.ts'
import { route } from '../src/router.ts'

export const secondPage = [
  // A page is a folder beside `shop`, and a line in `pages.ts`: see the README there. Until then, this one shows the shop.
  route('GET', '/about', async (context) => {
    const nonce = createNonce()
    context.response.setHeaders(new Map(Object.entries(pageHeaders(nonce))))
    context.html(await renderPage('shop', { items: 3, requestId: context.requestId, nonce }))
  }),
]
