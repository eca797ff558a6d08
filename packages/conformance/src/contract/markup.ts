import { products } from '@startgrid/shared/page/shop/product.ts'
import type { Response } from '@startgrid/wire/reader.ts'
import { headerValue } from '@startgrid/wire/request.ts'
import { differ, type Finding } from './finding.ts'

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
  // Without the nonce, the same difference of many pages is told once.
  const told = text?.replaceAll(new RegExp(NONCE, 'g'), "'nonce-NONCE'")
  const received = told === undefined ? 'none, or several' : `content-security-policy: ${told}`
  return differ(`content-security-policy (once): ${POLICIES[first]}`, received)
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

/** The URLs below /assets/ that a page loads, each once. */
export function assetUrls(html: string): string[] {
  return [...new Set([...html.matchAll(/ (?:src|href)="(\/assets\/[^"]*)"/g)].map(([, url = '']) => url))]
}

/** The names in the list of products, in order. */
export function productNames(html: string): string[] {
  return [...html.matchAll(/<li\b[^>]*><h3>([^<]*)<\/h3>/g)].map(([, name = '']) => name)
}

/** A whole document with exactly this number of products. The rest is compared with the built page, which a browser tries under its policy. */
export function inspectDocument(items: number): (response: Response) => Finding[] {
  return ({ body }) => {
    const html = body.toString('utf8')
    const names = productNames(html)
    const wanted = products(items)
    const at = wanted.findIndex(({ name }, index) => name !== names[index])
    if (names.length !== items) return differ(`${items} products`, `${names.length} products`)
    if (at >= 0) return differ(`product ${at} is ${wanted[at]?.name}`, `it is ${names[at]}`)
    if (html.endsWith('</body></html>')) return []
    return differ('a document that ends with </body></html>', html.slice(-40))
  }
}

/** The document of a response without its id and nonce, so that two can be compared byte for byte. */
export function withoutSecrets(response: Response): string {
  const html = response.body.toString('utf8')
  const anonymous = html.replaceAll(headerValue(response.headers, 'x-request-id') ?? 'ID', 'ID')
  return anonymous.replaceAll(nonceOf(response) ?? 'NONCE', 'NONCE')
}

/**
 * Moves the late parts of a stream to the place where React's inline scripts put them in the browser, and removes those scripts. The
 * result is the document as it would be without delay. @param html without secrets
 */
export function assembleStream(html: string): string {
  const late = /<div hidden id="S:([0-9a-f]+)">([\s\S]*?)<\/div>(?=<script)/g
  const parts = new Map([...html.matchAll(late)].map(([, id = '', content = '']) => [id, content]))
  return html
    .replace(late, '')
    .replace(
      /<!--\$\?--><template id="B:([0-9a-f]+)"><\/template>[\s\S]*?<!--\/\$-->/g,
      (hole, id: string) => {
        const part = parts.get(id)
        return part === undefined ? hole : `<!--$-->${part}<!--/$-->`
      },
    )
    .replace(/<script nonce="NONCE"(?: id="_R_")?>[\s\S]*?<\/script>/g, '')
}
