import { products } from '@startgrid/shared/page/shop/product.ts'
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
  // Without the nonce, the same difference of many pages is told once.
  const told = text?.replaceAll(new RegExp(NONCE, 'g'), "'nonce-NONCE'")
  return [
    {
      expected: `content-security-policy (once): ${POLICIES[first]}`,
      received: told === undefined ? 'none, or several' : `content-security-policy: ${told}`,
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

/** A start tag. */
interface Tag {
  name: string
  attributes: ReadonlyMap<string, string>
}

const TAG = /<([a-z][a-z0-9]*)((?:\s+[^\s"'<>/=]+(?:="[^"]*")?)*)\s*\/?>/gi
const ATTRIBUTE = /([^\s"'<>/=]+)(?:="([^"]*)")?/g
const RAW_TEXT = /(<(script|style)\b[^>]*>)[\s\S]*?(<\/\2>)/gi

/** The start tags of markup as React writes it: attributes in double quotes, entities for the rest. */
function startTags(html: string): Tag[] {
  return [...html.replace(RAW_TEXT, '$1$3').matchAll(TAG)].map(([, name = '', attributes = '']) => ({
    name: name.toLowerCase(),
    attributes: readAttributes(attributes),
  }))
}

function readAttributes(text: string): Map<string, string> {
  const entries = [...text.matchAll(ATTRIBUTE)].map(
    ([, name = '', value = '']) => [name.toLowerCase(), value] as const,
  )
  return new Map(entries)
}

/** The URLs below /assets/ that a page loads, each once. */
export function assetUrls(html: string): string[] {
  const urls = startTags(html).flatMap(({ attributes }) => [attributes.get('src'), attributes.get('href')])
  return [...new Set(urls.filter((url) => url?.startsWith('/assets/')))] as string[]
}

/** The names in the list of products, in order. */
export function productNames(html: string): string[] {
  return [...html.matchAll(/<li\b[^>]*><h3>([^<]*)<\/h3>/g)].map(([, name = '']) => name)
}

/** A whole document with exactly this number of products, which works under the policy of its response. */
export function inspectDocument(items: number): (response: Response) => Finding[] {
  return (response) => {
    const html = response.body.toString('utf8')
    return [
      ...inspectFrame(html),
      ...inspectProducts(html, items),
      ...inspectId(html, headerValue(response.headers, 'x-request-id')),
      ...inspectPolicy(html, nonceOf(response)),
    ]
  }
}

function inspectFrame(html: string): Finding[] {
  const findings: Finding[] = []
  if (!/^<!doctype html><html\b/i.test(html)) {
    findings.push({
      expected: 'a document that starts with <!DOCTYPE html><html',
      received: html.slice(0, 40),
    })
  }
  if (!html.endsWith('</body></html>')) {
    findings.push({ expected: 'a document that ends with </body></html>', received: html.slice(-40) })
  }
  return findings
}

function inspectProducts(html: string, items: number): Finding[] {
  const names = productNames(html)
  if (names.length !== items) return [{ expected: `${items} products`, received: `${names.length} products` }]
  const at = products(items).findIndex(({ name }, index) => name !== names[index])
  if (at === -1) return []
  return [{ expected: `product ${at} is ${products(items)[at]?.name}`, received: `it is ${names[at]}` }]
}

function inspectId(html: string, id: string | undefined): Finding[] {
  const visible = html.replace(RAW_TEXT, '')
  if (id === undefined || visible.includes(`>${id}<`)) return []
  return [{ expected: `the request id ${id} in the page`, received: 'it is not there' }]
}

/** Whether the page works under its own policy (CSP3): scripts need the nonce, inline styles and handlers never work. */
function inspectPolicy(html: string, nonce: string | undefined): Finding[] {
  return startTags(html).flatMap(({ name, attributes }) => [
    ...inspectNonce(name, attributes, nonce),
    ...inspectInline(name, attributes),
  ])
}

function inspectNonce(
  name: string,
  attributes: ReadonlyMap<string, string>,
  nonce: string | undefined,
): Finding[] {
  if (!isScript(name, attributes) || nonce === undefined || attributes.get('nonce') === nonce) return []
  const what = `<${name}>${attributes.has('src') ? ` of ${attributes.get('src')}` : ''}`
  return [
    {
      expected: `${what} with the nonce of the policy`,
      received: `nonce ${attributes.get('nonce') ?? 'absent'}`,
    },
  ]
}

/** Data blocks are not run (HTML, section 4.12.1); a preload is subject to `script-src` like the script itself. */
function isScript(name: string, attributes: ReadonlyMap<string, string>): boolean {
  if (name === 'link') return attributes.get('rel') === 'modulepreload' || attributes.get('as') === 'script'
  return name === 'script' && !/^application\/(?:ld\+)?json$/.test(attributes.get('type') ?? '')
}

function inspectInline(name: string, attributes: ReadonlyMap<string, string>): Finding[] {
  const handler = [...attributes.keys()].find((key) => key === 'style' || key.startsWith('on'))
  if (name === 'style') return [{ expected: 'no inline styles', received: 'a <style> element' }]
  if (handler === undefined) return []
  return [
    {
      expected: 'no inline styles or handlers',
      received: `<${name} ${handler}="${attributes.get(handler)}">`,
    },
  ]
}

/** The document of a response without its id and nonce, so that two can be compared byte for byte. */
export function withoutSecrets(response: Response): string {
  const html = response.body.toString('utf8')
  const anonymous = html.replaceAll(headerValue(response.headers, 'x-request-id') ?? 'ID', 'ID')
  return anonymous.replaceAll(nonceOf(response) ?? 'NONCE', 'NONCE')
}

/**
 * Moves the late parts of a stream to the place where React's inline scripts put them in the browser, and removes those scripts. The
 * result is the document as it would be without delay.
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
    .replace(/<script nonce="[^"]*"(?: id="_R_")?>[\s\S]*?<\/script>/g, '')
}
