import { asset, document, type Expectation, health, json, text } from './expectation.ts'
import type { Probe } from './probe.ts'

/** A GET that succeeds. */
interface Route {
  target: string
  expected: Expectation
}

const HELLO: readonly Route[] = [
  { target: '/', expected: text('Hello World!') },
  { target: '/json', expected: json({ hello: 'world' }) },
  { target: '/hello/x', expected: text('Hello, x!') },
]

const STATUS: readonly Route[] = [{ target: '/_/status', expected: text('OK') }]

const HEALTH: readonly Route[] = [
  { target: '/livez', expected: health() },
  { target: '/readyz', expected: health() },
]

/** One request for every route of the role under test. */
export async function routesOf({ subject }: Probe): Promise<Route[]> {
  if (subject.role === 'hello') return [...HELLO, ...HEALTH]
  if (subject.role === 'status') return [...STATUS, ...HEALTH]
  const stream = { target: '/stream?items=2&delay=1', expected: document(2) }
  const [file] = await subject.assets()
  return [
    { target: '/?items=2', expected: document(2) },
    ...(subject.absent.includes('stream') ? [] : [stream]),
    ...(file === undefined ? [] : [{ target: file, expected: asset(assetType(file)) }]),
    ...HEALTH,
  ]
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

const PLAIN = {
  hello: { target: '/json', expected: json({ hello: 'world' }) },
  ssr: { target: '/', expected: document(50) },
  status: { target: '/_/status', expected: text('OK') },
}

/** A route without a query that responds with a body, and that is cheap to request again and again. */
export function plainRoute({ subject }: Probe): Route {
  return PLAIN[subject.role]
}

export const UNKNOWN_PATH = '/no-such-path'
