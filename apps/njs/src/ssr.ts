import { HTML, ITEMS, PROBLEM_JSON, parseCount } from '#shared/http/contract.ts'
import { RETRY_AFTER } from '#shared/http/load-shedding.ts'
import { HttpProblem, problem } from '#shared/http/problem.ts'
import { pagePolicy } from '#shared/http/security-headers.ts'
import { renderDocument, renderPartial } from '#shared/page/server.js'
import { type Answer, createApp, type NginxRequest, withHeaders } from './base.ts'

export function page({ args, variables }: NginxRequest): Answer {
  if (shouldShed(variables)) return refuse()
  const items = parseCount(args.items, ITEMS)
  const nonce = createNonce()
  return html(renderDocument({ items, requestId: variables.req_id ?? '', nonce }), nonce)
}

export function partial({ variables }: NginxRequest, [locale = '', slug = '']: readonly string[]): Answer {
  if (shouldShed(variables)) return refuse()
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

/**
 * NGINX runs a handler to its end, so no page can wait in line as in `#shared/overload.ts`. But it reads its clock ($msec, seconds)
 * when a turn of its event loop begins, and all requests that the turn serves were there by then: its age is their wait.
 * $shed_after_ms is set in the configuration.
 */
function shouldShed({ msec, shed_after_ms: limit }: NginxRequest['variables']): boolean {
  return limit !== '0' && Date.now() - Number(msec) * 1000 > Number(limit)
}

function refuse(): Answer {
  return { status: 503, type: PROBLEM_JSON, headers: { 'retry-after': RETRY_AFTER }, body: problem(503) }
}

/** As in `#shared/ids.ts`, which needs node:crypto; njs has the Web Crypto API. */
function createNonce(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(18))).toString('base64')
}

const routes = { '/': page, '/partial/:locale/:slug': partial, '/assets/:name': asset }

export default withHeaders(createApp(routes))
