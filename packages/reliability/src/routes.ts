import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { readOr } from '@startgrid/machine/proc.ts'
import { type Header, headerValue, type Request } from '@startgrid/wire/request.ts'
import type { Target } from '@startgrid/wire/target.ts'
import { type Watched, watch } from './clients.ts'

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

interface Page {
  readonly path: string
  readonly status: number
}

/** What a server can be asked for. */
export interface Routes {
  /** Of every request. */
  readonly headers: readonly Header[]
  /** Tells that it lives. */
  readonly health: string
  /** Responded to in full and soon: one, and all. */
  readonly page: Page
  readonly pages: readonly Page[]
  /** The longest response, of so many bytes or more. */
  readonly download?: { path: string; bytes: number }
  /** Server-sent events, or a body in pieces that takes more than a second. */
  readonly stream?: string
  /** Its response takes so many milliseconds. */
  readonly slow?: { path: string; ms: number }
  readonly upload?: Upload
  /** What has ended it when it was asked for: a finding for each. */
  readonly deadly?: readonly string[]
}

/** A route that takes a body: multipart, in a field of that name, or as it is. */
export interface Upload {
  readonly path: string
  readonly field: string | undefined
}

/** What a person says of the routes. */
export interface Named {
  readonly headers: readonly Header[]
  readonly paths: readonly string[]
  readonly stream?: string | undefined
  readonly slow?: string | undefined
  readonly upload?: Upload | undefined
}

const HEALTH = ['/readyz', '/livez', '/healthz', '/health', '/']

/** Links of the first page that are followed. */
const MOST_LINKS = 12

/** Milliseconds for a look at one path. */
const LOOK_MS = 2_500
const HEALTH_MS = 1_500

const STREAM_MS = 1_000
/** A response that takes longer than that can be under way at SIGTERM. */
const SLOW_MS = 150

const isRight = ({ status }: Pick<Watched, 'status'>) => status > 0 && status < 400

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
    if (seen.endMs === undefined || seen.status >= 500) await sleep(300)
    const reason = server.whyEnded()
    // If it was left amid its response, that is what the fault `abort` tries.
    if (reason !== undefined && (seen.endMs !== undefined || seen.status === 0))
      deadly.push(`GET ${path}: ${reason}`)
    if (reason !== undefined) server = await start()
    known.set(path, seen)
    return seen
  }
  const wanted = [...named.paths, named.stream, named.slow].filter((path) => path !== undefined)
  for (const path of new Set(wanted))
    refuseWrong(`GET ${path}`, await look(path, path === named.slow ? 10_000 : LOOK_MS))
  const candidates = [...new Set([...HEALTH, ...named.paths])]
  let health: string | undefined
  // A busy machine needs more time for its first response.
  for (const ms of [HEALTH_MS, 10 * HEALTH_MS])
    for (const path of candidates) {
      if (health !== undefined) break
      const last = known.get(path)
      const seen = last?.endMs === undefined ? await look(path, ms) : last
      if (isRight(seen) && seen.endMs !== undefined) health = path
    }
  if (health === undefined)
    throw new Error(
      `none of ${candidates.join(', ')} is responded to with a status below 400: --path names one that is`,
    )
  const home = known.get('/') ?? (await look('/'))
  const links = linksOf(home).filter((path) => !known.has(path))
  for (const path of links.slice(0, MOST_LINKS)) await look(path)
  const paths = new Set([...wanted, '/', ...links])
  const right = [...known.values()].filter((one) => paths.has(one.path) && isRight(one))
  const isWhole = ({ endMs }: Watched) => endMs !== undefined
  const streams = right.filter(isStream)
  const [longest] = right.toSorted((a, b) => b.bytes - a.bytes)
  const [slowest] = right.filter(isWhole).toSorted((a, b) => (b.endMs ?? 0) - (a.endMs ?? 0))
  const isSoon = (one: Watched) => isWhole(one) && (one.endMs ?? 0) < SLOW_MS && one.bytes < 1e6
  const soon = right.filter((one) => isSoon(one) && one.path !== named.slow)
  const [page = { path: health, status: 200 }] = soon
  const stream = named.stream ?? streams[0]?.path
  const isSlow = (one: Watched) => (one.endMs ?? 0) > SLOW_MS && !isStream(one)
  // A busy machine makes anything slow once.
  const isAgain = async ({ path }: Watched) => isSlow(await look(path)) && isSlow(await look(path))
  const usual = slowest && isSlow(slowest) && (await isAgain(slowest)) ? slowest : undefined
  const slow = known.get(named.slow ?? '') ?? usual
  const upload = named.upload && (await checkUpload(server, headers, named.upload))
  return {
    headers,
    health,
    page,
    pages: soon.length > 0 ? soon : [page],
    ...(longest !== undefined && { download: { path: longest.path, bytes: longest.bytes } }),
    ...(stream !== undefined && { stream }),
    ...(slow !== undefined && { slow: { path: slow.path, ms: slow.endMs ?? LOOK_MS } }),
    ...(upload !== undefined && { upload }),
    deadly,
  }
}

function isStream({ headers, headMs, endMs }: Watched): boolean {
  if (headerValue(headers, 'content-type')?.startsWith('text/event-stream')) return true
  const isChunked = headerValue(headers, 'transfer-encoding') === 'chunked'
  return isChunked && headMs !== undefined && (endMs ?? Number.POSITIVE_INFINITY) - headMs > STREAM_MS
}

/** Paths of the same origin, as browsers would ask for them. */
function linksOf({ headers, body }: Watched): string[] {
  if (headerValue(headers, 'content-type')?.startsWith('text/html') !== true) return []
  const origin = 'http://localhost'
  const links = [...body.matchAll(/\b(?:href|src|action)\s*=\s*["']?([^"'\s>]+)/gi)].flatMap(
    ([, link = '']) => {
      const url = URL.parse(link.replaceAll('&amp;', '&'), `${origin}/`)
      return url?.origin === origin ? `${url.pathname}${url.search}` : []
    },
  )
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
export function uploadOf(
  { path, field }: Upload,
  own: readonly Header[],
  content: string,
  length?: number,
): Request {
  const boundary = 'startgrid-boundary'
  const part = `--${boundary}\r\ncontent-disposition: form-data; name="${field}"; filename="a.bin"\r\ncontent-type: application/octet-stream\r\n\r\n${content}`
  const isWhole = length === undefined
  const body = field === undefined ? content : isWhole ? `${part}\r\n--${boundary}--\r\n` : part
  const type = field === undefined ? 'application/octet-stream' : `multipart/form-data; boundary=${boundary}`
  const headers: Header[] = [
    ...own,
    ['content-type', type],
    ['content-length', String(length ?? body.length)],
  ]
  return { method: 'POST', target: path, headers, body }
}
