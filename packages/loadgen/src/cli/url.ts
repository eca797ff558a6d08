import { UsageError } from '@startgrid/cli/arguments.ts'
import type { Target } from '../http/target.ts'

/** The target and the paths of the URLs on a command line. */
export interface Address {
  /** The first URL, as it was given. */
  url: string
  host: string
  target: Target
  paths: string[]
}

/** @throws {UsageError} if there is no URL, if one is not valid, or if two name different servers */
export function readUrls(texts: readonly string[]): Address {
  const [first, ...others] = texts.map(readUrl)
  if (first === undefined)
    throw new UsageError('Which URL? For example: pnpm load http://127.0.0.1:3000/json')
  for (const { host, url } of others) {
    if (host !== first.host) throw new UsageError(`One server at a time: ${url} is not on ${first.host}.`)
  }
  return { ...first, paths: [first, ...others].flatMap(({ paths }) => paths) }
}

function readUrl(text: string): Address {
  // URLs cannot contain braces, so the random parts are replaced while a URL is parsed.
  const parts: string[] = []
  const plain = text.replace(/\{[^{}]*\}/g, (part) => `~part${parts.push(part) - 1}~`)
  const url = URL.parse(plain)
  if (url?.protocol === 'https:')
    throw new UsageError('https is not supported: this generator speaks HTTP/1.1 without TLS.')
  if (url?.protocol !== 'http:' || url.username !== '' || url.password !== '' || url.host.includes('~part')) {
    throw new UsageError(`${JSON.stringify(text)} is not a URL such as http://127.0.0.1:3000/json.`)
  }
  const path = `${url.pathname}${url.search}`.replace(/~part(\d+)~/g, (_, n) => parts[Number(n)] ?? '')
  return { url: `${url.origin}${path}`, host: url.host, target: targetOf(url), paths: [path] }
}

function targetOf({ hostname, port }: URL): Target {
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? 80 : Number(port) }
}
