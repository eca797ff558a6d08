import Router from '@koa/router'
import { renderPage } from '#shared/page/server.js'
import { createNonce, pageHeaders } from '#shared/security.ts'

export const secondPage = new Router()

// A page is a folder beside `shop`, and a line in `pages.ts`: see the README there. Until then, this one shows the shop.
secondPage.get('/about', async (ctx) => {
  const nonce = createNonce()
  ctx.set(pageHeaders(nonce))
  ctx.body = await renderPage('shop', { items: 3, requestId: ctx.state.requestId, nonce })
})
