import type { Response } from '@startgrid/wire/reader.ts'
import { headerValue } from '@startgrid/wire/request.ts'
import type { Finding } from './finding.ts'

/** Which policy a response has: that of everything but pages, that of a page, or one of them. */
export type PolicyKind = 'plain' | 'page' | 'either'

/** What docs/contract.md demands. The nonce is another one in each response. */
const POLICIES = {
  plain: "default-src 'none'; frame-ancestors 'none'",
  page:
    "default-src 'none'; script-src 'nonce-NONCE' 'strict-dynamic'; style-src 'self'; img-src 'self' data:; " +
    "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
}

/** At least 128 bits (CSP3, section 7.1), in base64. */
const NONCE = /'nonce-([A-Za-z0-9+/_-]{22,}={0,2})'/

/** The nonce in the policy of a page; undefined if there is none, or too short a one. */
export function nonceOf(response: Response): string | undefined {
  return NONCE.exec(headerValue(response.headers, 'content-security-policy') ?? '')?.[1]
}

/** Compares the policy of a response by its directives. */
export function judgePolicy(response: Response, kind: PolicyKind): Finding[] {
  const text = headerValue(response.headers, 'content-security-policy')
  const kinds = kind === 'either' ? (['plain', 'page'] as const) : [kind]
  const nonce = nonceOf(response)
  if (text !== undefined && kinds.some((one) => isSound(text, POLICIES[one], nonce))) return []
  const [first = 'plain'] = kinds
  return [
    {
      expected: `content-security-policy (once): ${POLICIES[first]}`,
      received: text === undefined ? 'none, or several' : `content-security-policy: ${text}`,
    },
  ]
}

/** Further directives may only forbid more: they have no source, or `'none'`. */
function isSound(text: string, policy: string, nonce = 'none'): boolean {
  const received = directives(text, nonce)
  const wanted = directives(policy.replace('NONCE', nonce), nonce)
  for (const [name, sources] of wanted) if (received.get(name) !== sources) return false
  return [...received].every(([name, sources]) => wanted.has(name) || sources === '' || sources === "'none'")
}

/**
 * The sources of each directive, sorted (CSP3, section 2.2.1: of two with the same name, the first counts). `style-src` without the nonce,
 * which may be there or not.
 */
function directives(policy: string, nonce: string): Map<string, string> {
  const found = new Map<string, string>()
  for (const directive of policy.split(';')) {
    const [first = '', ...sources] = directive.trim().split(/\s+/)
    const name = first.toLowerCase()
    if (name === '' || found.has(name)) continue
    const kept = sources.filter((source) => name !== 'style-src' || source !== `'nonce-${nonce}'`)
    found.set(name, kept.sort().join(' '))
  }
  return found
}
