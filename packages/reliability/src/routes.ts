import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { readOr } from '@startgrid/machine/proc.ts'
import { type Header, headerValue, type Request } from '@startgrid/wire/request.ts'
import type { Target } from '@startgrid/wire/target.ts'
import { NEVER, type Watched, watch } from './clients.ts'

/** One start of a server. */
export interface Server {
  readonly target: Target
  /** The process that was started: an orchestrator signals this one. */
  readonly pid: number
  /** All its processes that live. */
  pids(): number[]
  /** Why it can respond no more: a clause. Undefined while it can. */
  whyEnded(): string | undefined
}

/** Open files and sockets of all its processes; 0 where there is no /proc. */
export function countFiles({ pids }: Server): number {
  return pids().reduce((sum, pid) => sum + readOr(0, () => readdirSync(`/proc/${pid}/fd`).length), 0)
}

/** What a server can be asked for. */
export interface Routes {
  /** Of every request. */
  readonly headers: readonly Header[]
  /** Tells that it lives. */
  readonly health: string
  /** Responded to in full and soon: one, and all. */
  readonly page: { path: string; status: number }
  readonly pages: readonly { path: string }[]
  /** The longest response, of so many bytes or more. */
  readonly download?: { path: string; bytes: number } | undefined
  /** Server-sent events, or a body in pieces that takes more than a second. */
  readonly stream?: string | undefined
  /** Its response takes so many milliseconds. */
  readonly slow?: { path: string; ms: number } | undefined
  readonly upload?: Upload | undefined
  /** What has ended it when it was asked for: a finding for each. */
  readonly deadly?: readonly string[] | undefined
}

/** A route that takes a body: multipart, in a field of that name, or as it is. */
export interface Upload {
  readonly path: string
  readonly field: string | undefined
}

/** What a person says of the routes. */
export interface Named extends Pick<Routes, 'headers' | 'stream' | 'upload'> {
  readonly paths: readonly string[]
  readonly slow?: string | undefined
}

/** Milliseconds for a look at one path. */
const LOOK_MS = 2_500
const HEALTH_MS = 1_500

/** A response that takes longer than that can be under way at SIGTERM. */
const SLOW_MS = 150

const isRight = ({ status }: Pick<Watched, 'status'> = { status: 0 }) => status > 0 && status < 400
const isWhole = (one?: Watched) => one !== undefined && one.endMs < NEVER

/**
 * Looks at a server: at what is named, at `/`, and where its links lead.
 * @param start starts it anew when a request has ended it
 * @throws {Error} a sentence if a named path is not there, or nothing responds
 */
export async function findRoutes(start: () => Promise<Server>, named: Named): Promise<Routes> {
  const { headers } = named
  let server = await start()
  const deadly: string[] = []
  const known = new Map<string, Watched>()
  const look = async (path: string, ms = LOOK_MS): Promise<Watched> => {
    const seen = await watch(server.target, { target: path, headers }, { ms })
    // What nobody catches may end it a moment later.
    if (!isWhole(seen) || seen.status >= 500) await sleep(300)
    const reason = server.whyEnded()
    // If it was left amid its response, that is what the fault `abort` tries.
    if (reason !== undefined && (isWhole(seen) || seen.status === 0)) deadly.push(`GET ${path}: ${reason}`)
    if (reason !== undefined) server = await start()
    known.set(path, seen)
    return seen
  }
  const wanted = [...named.paths, named.stream, named.slow].filter((path) => path !== undefined)
  for (const path of new Set(wanted))
    refuseWrong(`GET ${path}`, await look(path, path === named.slow ? 4 * LOOK_MS : LOOK_MS))
  const candidates = [...new Set(['/readyz', '/livez', '/healthz', '/health', '/', ...named.paths])]
  for (const path of candidates) if (!known.has(path)) await look(path, HEALTH_MS)
  const isHealth = (path: string) => isRight(known.get(path)) && isWhole(known.get(path))
  // A busy machine needs more time for its first response.
  if (!candidates.some(isHealth)) for (const path of candidates) await look(path, 10 * HEALTH_MS)
  const health = candidates.find(isHealth)
  if (health === undefined)
    throw new Error(
      `none of ${candidates.join(', ')} is responded to with a status below 400: --path names one that is`,
    )
  const links = linksOf(known.get('/')).filter((path) => !known.has(path))
  for (const path of links.slice(0, 12)) await look(path)
  const paths = new Set([...wanted, '/', ...links])
  const right = [...known.values()].filter((one) => paths.has(one.path) && isRight(one))
  const [longest] = right.toSorted((a, b) => b.bytes - a.bytes)
  const soon = right.filter(({ path, endMs, bytes }) => path !== named.slow && endMs < SLOW_MS && bytes < 1e6)
  const [page = { path: health, status: 200 }] = soon
  const isSlow = (one: Watched) => one.endMs > SLOW_MS && isWhole(one) && !isStream(one)
  const [slowest] = right.filter(isSlow).toSorted((a, b) => b.endMs - a.endMs)
  // A busy machine makes anything slow once.
  const isAgain = async ({ path }: Watched) => isSlow(await look(path)) && isSlow(await look(path))
  const usual = slowest && (await isAgain(slowest)) ? slowest : undefined
  const slow = known.get(named.slow ?? '') ?? usual
  return {
    headers,
    health,
    page,
    pages: soon.length > 0 ? soon : [page],
    download: longest && { path: longest.path, bytes: longest.bytes },
    stream: named.stream ?? right.find(isStream)?.path,
    slow: slow && { path: slow.path, ms: isWhole(slow) ? slow.endMs : LOOK_MS },
    upload: named.upload && (await checkUpload(server, headers, named.upload)),
    deadly,
  }
}

/** The type of server-sent events. */
export const EVENTS = 'text/event-stream'

function isStream({ headers, headMs, endMs }: Watched): boolean {
  if (headerValue(headers, 'content-type')?.startsWith(EVENTS)) return true
  const isChunked = headerValue(headers, 'transfer-encoding') === 'chunked'
  return isChunked && endMs - headMs > 1_000
}

/** Paths of the same origin, as browsers would ask for them. */
function linksOf({ headers, body }: Pick<Watched, 'headers' | 'body'> = { headers: [], body: '' }): string[] {
  if (headerValue(headers, 'content-type')?.startsWith('text/html') !== true) return []
  const origin = 'http://localhost'
  const found = body.matchAll(/\b(?:href|src|action)\s*=\s*["']?([^"'\s>]+)/gi)
  const links = [...found].flatMap(([, link = '']) => {
    const url = URL.parse(link.replaceAll('&amp;', '&'), `${origin}/`)
    return url?.origin === origin ? `${url.pathname}${url.search}` : []
  })
  return [...new Set(links)]
}

/** @throws {Error} if it is a path for nobody, or for others */
function refuseWrong(what: string, { status }: Watched): void {
  if ([401, 403, 404, 405].includes(status))
    throw new Error(`${what} is responded to with ${status}: name another path, or say who asks (--header)`)
}

/** @returns how the route takes a body @throws {Error} if it takes none */
async function checkUpload({ target }: Server, headers: readonly Header[], upload: Upload): Promise<Upload> {
  for (const one of [upload, { ...upload, field: undefined }]) {
    const seen = await watch(target, uploadOf(one, headers, 'a'.repeat(1_000)), { ms: 10_000 })
    if (isRight(seen)) return one
    refuseWrong(`POST ${upload.path}`, seen)
  }
  return upload
}

/** @param length announced, and more than there is in an upload that stops */
export function uploadOf({ path, field }: Upload, own: readonly Header[], content: string, length?: number) {
  const post = (type: string, body: string): Request => {
    const size = String(length ?? body.length)
    const headers: Header[] = [...own, ['content-type', type], ['content-length', size]]
    return { method: 'POST', target: path, headers, body }
  }
  if (field === undefined) return post('application/octet-stream', content)
  const part = `--startgrid\r\ncontent-disposition: form-data; name="${field}"; filename="a.bin"\r\ncontent-type: application/octet-stream\r\n\r\n${content}`
  const end = length === undefined ? '\r\n--startgrid--\r\n' : ''
  return post('multipart/form-data; boundary=startgrid', part + end)
}
