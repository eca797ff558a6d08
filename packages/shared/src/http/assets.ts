import { createHash } from 'node:crypto'
import { accessSync, constants, readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { basename, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { StartError } from '../process/config.ts'

/** A file of another type is sent as `application/octet-stream`. */
const TYPES: Readonly<Record<string, string>> = {
  '.avif': 'image/avif',
  '.css': 'text/css; charset=utf-8',
  '.gif': 'image/gif',
  '.ico': 'image/x-icon',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
}

export type Coding = 'br' | 'gzip'

const EXTENSIONS: Readonly<Record<Coding, string>> = { br: '.br', gzip: '.gz' }

/** One file in one content coding. */
export interface Representation {
  type: string
  coding: Coding | undefined
  bytes: Buffer<ArrayBuffer>
  etag: string
}

export type Assets = ReadonlyMap<string, ReadonlyMap<Coding | undefined, Representation>>

/**
 * Checks that the files of a page exist. Without this, a server would start and its pages would lack scripts and styles.
 * @throws {StartError} naming the first file that cannot be read
 */
export function requireAssets(urls: readonly string[], directory: URL): void {
  for (const url of urls) {
    const path = join(fileURLToPath(directory), basename(url))
    try {
      accessSync(path, constants.R_OK)
    } catch (cause) {
      throw new StartError(`${path} cannot be read, but the page needs it: build first.`, { cause })
    }
  }
}

/**
 * Reads the files of a flat directory, each with its `.br` and `.gz` siblings made at build time, for servers that have no static file
 * handler. They are read once: they are few, small and never change.
 */
export function readAssets(directory: URL): Assets {
  const root = fileURLToPath(directory)
  const names = new Set(readdirSync(root))
  const assets = new Map<string, Map<Coding | undefined, Representation>>()
  for (const name of names) {
    if (/\.(?:br|gz)$/.test(name)) continue
    const type = TYPES[extname(name)] ?? 'application/octet-stream'
    const representations = new Map<Coding | undefined, Representation>()
    for (const [coding, extension] of [[undefined, ''], ...Object.entries(EXTENSIONS)] as [
      Coding | undefined,
      string,
    ][]) {
      if (!names.has(name + extension)) continue
      const bytes = readFileSync(join(root, name + extension))
      const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
      representations.set(coding, { type, coding, bytes, etag })
    }
    assets.set(name, representations)
  }
  return assets
}

/** The best representation that the client accepts: Brotli, then gzip, then the plain file. */
export function findAsset(
  assets: Assets,
  name: string,
  acceptEncoding: string | null | undefined,
): Representation | undefined {
  const representations = assets.get(name)
  if (representations === undefined) return undefined
  for (const coding of ['br', 'gzip'] as const) {
    const found = representations.get(coding)
    if (found && accepts(acceptEncoding, coding)) return found
  }
  return representations.get(undefined)
}

/**
 * Prepares a request for a static file plugin. The plugins differ: some ignore `q=0` or give `*` precedence, some serve the `.br` and
 * `.gz` siblings as files of their own, and some respond with 403 to a path outside the directory.
 * @param isAccepted whether the client accepts a coding
 * @returns false if the path cannot name an asset: respond with 404
 */
export function prepareAssetRequest(
  { url = '', headers }: IncomingMessage,
  isAccepted: (coding: Coding) => unknown,
): boolean {
  headers['accept-encoding'] = (['br', 'gzip'] as const).find((coding) => isAccepted(coding)) ?? 'identity'
  const [path = ''] = url.split('?', 1)
  return /^\/assets\/[\w.-]*\w$/.test(path) && !/\.(?:br|gz)$/.test(path) && !path.includes('..')
}

/**
 * Whether Accept-Encoding allows a coding (RFC 9110 section 12.5.3): it is named, or covered by `*`, with a weight above 0.
 * Without the header the RFC allows every coding. This allows none, because such a client may be too simple to decode.
 */
export function accepts(acceptEncoding: string | null | undefined, coding: Coding): boolean {
  let wildcard = false
  for (const part of acceptEncoding?.split(',') ?? []) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase())
    const allowed = !parameters.some((text) => /^q\s*=\s*0(?:\.0*)?$/.test(text))
    if (name === coding) return allowed
    if (name === '*') wildcard = allowed
  }
  return wildcard
}

/** Whether If-None-Match names an entity tag, by weak comparison (RFC 9110 section 13.1.2). */
export function isFresh(ifNoneMatch: string | null | undefined, etag: string): boolean {
  if (!ifNoneMatch) return false
  if (ifNoneMatch.trim() === '*') return true
  const tags: string[] = ifNoneMatch.match(/"[^"]*"/g) ?? []
  return tags.includes(etag.replace(/^W\//, ''))
}
