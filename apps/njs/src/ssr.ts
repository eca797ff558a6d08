import { HTML, ITEMS, pagePolicy, parseCount } from '#shared/contract.ts'
import { renderDocument, renderPartial } from '#shared/page/server.js'
import { HttpProblem } from '#shared/problem.ts'
import { type Answer, createApp, type NginxRequest, withHeaders } from './base.ts'

export function page({ args, variables }: NginxRequest): Answer {
  const items = parseCount(args.items, ITEMS)
  const nonce = createNonce()
  return html(renderDocument({ items, requestId: variables.req_id ?? '', nonce }), nonce)
}

export function partial(_request: NginxRequest, [locale = '', slug = '']: readonly string[]): Answer {
  const fragment = renderPartial(locale, slug)
  if (fragment === undefined) throw new HttpProblem(404)
  return html(fragment, createNonce())
}

/** NGINX serves the files that there are; what comes here has another name or method. */
export function asset(): Answer {
  throw new HttpProblem(404)
}

function html(body: string, nonce: string): Answer {
  return { type: HTML, headers: { 'content-security-policy': pagePolicy(nonce) }, body }
}

/** As in `#shared/ids.ts`, which needs node:crypto; njs has the Web Crypto API. */
function createNonce(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(18))).toString('base64')
}

const routes = { '/': page, '/partial/:locale/:slug': partial, '/assets/:name': asset }

export default withHeaders(createApp(routes))
