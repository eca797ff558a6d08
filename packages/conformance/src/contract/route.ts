import { asset, document, type Expectation, health, json, streamedDocument, text } from './expectation.ts'
import type { Probe } from './probe.ts'

/** A GET that succeeds. */
interface Route {
  /** As the contract writes it. */
  pattern: string
  target: string
  expected: Expectation
}

const HELLO: readonly Route[] = [
  { pattern: '/', target: '/', expected: text('Hello World!') },
  { pattern: '/json', target: '/json', expected: json({ hello: 'world' }) },
  { pattern: '/hello/:name', target: '/hello/x', expected: text('Hello, x!') },
]

const STATUS: readonly Route[] = [{ pattern: '/_/status', target: '/_/status', expected: text('OK') }]

const HEALTH: readonly Route[] = ['/livez', '/readyz'].map((path) => ({
  pattern: path,
  target: path,
  expected: health(),
}))

const PAGE: Route = { pattern: '/', target: '/?items=2', expected: document(2) }

const STREAM: Route = {
  pattern: '/stream',
  target: '/stream?items=2&delay=1',
  expected: streamedDocument(2),
}

/** One request for every route of the role under test. */
export async function routesOf(probe: Probe): Promise<Route[]> {
  const { role } = probe.subject
  if (role === 'hello') return [...HELLO, ...HEALTH]
  if (role === 'status') return [...STATUS, ...HEALTH]
  return [PAGE, ...streamOf(probe), ...(await assetsOf(probe)), ...HEALTH]
}

function streamOf({ subject }: Probe): Route[] {
  return subject.absent.includes('stream') ? [] : [STREAM]
}

async function assetsOf({ subject }: Probe): Promise<Route[]> {
  const [target] = await subject.assets()
  if (target === undefined) return []
  return [{ pattern: '/assets/*', target, expected: asset(assetType(target)) }]
}

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
}

/** The media type of an asset by its extension: RFC 9239 for JavaScript; SVG declares its own encoding. */
export function assetType(url: string): string {
  const extension = url.slice(url.lastIndexOf('.') + 1)
  return TYPES[extension] ?? 'application/octet-stream'
}

/** Paths whose pattern matches, so that another method is 405, whether or not anything is there. */
export async function knownPaths(probe: Probe): Promise<string[]> {
  const targets = (await routesOf(probe)).map(({ target }) => target)
  return probe.subject.role === 'ssr' ? [...targets, '/assets/x'] : targets
}

/** A route without a query that responds with a body, and that is cheap to request again and again. */
export function plainRoute(probe: Probe): Route {
  const routes = {
    hello: HELLO[1],
    ssr: { pattern: '/', target: '/', expected: document(50) },
    status: STATUS[0],
  }
  return routes[probe.subject.role] ?? { pattern: '/livez', target: '/livez', expected: health() }
}

export const UNKNOWN_PATH = '/no-such-path'
