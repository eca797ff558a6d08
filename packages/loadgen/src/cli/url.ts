import { targetOf, UsageError } from '@startgrid/cli/arguments.ts'
import type { Target } from '../http/target.ts'

/** The target and the paths of the URLs on a command line. */
export interface Address {
  /** The first URL, as it was given. */
  url: string
  origin: string
  host: string
  target: Target
  paths: string[]
}

/**
 * @param insecure as of `targetOf`
 * @throws {UsageError} if there is no URL, if one is not valid, or if two name different servers
 */
export function readUrls(texts: readonly string[], insecure = false): Address {
  const [first, ...others] = texts.map((text) => readUrl(text, insecure))
  if (first === undefined)
    throw new UsageError('Which URL? For example: pnpm load http://127.0.0.1:3000/json')
  for (const { origin, url } of others) {
    if (origin !== first.origin)
      throw new UsageError(`One server at a time: ${url} is not on ${first.origin}.`)
  }
  return { ...first, paths: [first, ...others].flatMap(({ paths }) => paths) }
}

function readUrl(text: string, insecure: boolean): Address {
  // URLs cannot contain braces, so the random parts are replaced while a URL is parsed.
  const parts: string[] = []
  const plain = text.replace(/\{[^{}]*\}/g, (part) => `~part${parts.push(part) - 1}~`)
  const url = URL.parse(plain)
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (!isHttp || url.username !== '' || url.password !== '' || url.host.includes('~part')) {
    throw new UsageError(`${JSON.stringify(text)} is not a URL such as http://127.0.0.1:3000/json.`)
  }
  const path = `${url.pathname}${url.search}`.replace(/~part(\d+)~/g, (_, n) => parts[Number(n)] ?? '')
  const { origin, host } = url
  return { url: `${origin}${path}`, origin, host, target: targetOf(url, insecure), paths: [path] }
}
