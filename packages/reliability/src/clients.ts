import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Connection, openConnection, type Patience } from '@startgrid/wire/client.ts'
import { NoResponse, type Response, ResponseReader } from '@startgrid/wire/reader.ts'
import { type Header, methodOf, type Request, requestBytes } from '@startgrid/wire/request.ts'
import { authority, connect, type Target } from '@startgrid/wire/target.ts'

/** What a client saw of a response, up to its end or the cut. */
export interface Seen extends Partial<Pick<Response, 'status' | 'headers'>> {
  readonly body: string
  /** Why it is not whole. */
  readonly error: NoResponse | undefined
  /** The connection had been used before. */
  readonly isReused: boolean
}

/** Milliseconds after which a client gives up: many, because machines are busy. */
export const PATIENCE = { timeoutMs: 30_000 }

/** Sends one request on a connection of its own. @param request a text is the path of a GET */
export async function ask(target: Target, request: Request | string, patience?: Patience): Promise<Seen> {
  const client = new Client(target, patience)
  return client.ask(request).finally(() => client.close())
}

/** A response as it came, until its end or until somebody had enough. Times are milliseconds since the request, `NEVER` for what did not come. */
export interface Watched {
  readonly path: string
  readonly status: number
  readonly headers: readonly Header[]
  /** The first 300 kB of the body. */
  readonly body: string
  readonly bytes: number
  readonly headMs: number
  /** When parts of the body arrived, at least 50 ms after the last one: a slow machine makes fewer and longer ones. */
  readonly arrivals: readonly number[]
  readonly endMs: number
}

export const NEVER = Number.POSITIVE_INFINITY
const PART_MS = 50

/** Reads a response for at most so long, or so many bytes. */
export function watch(
  target: Target,
  request: Request,
  { ms, bytes = NEVER }: { ms: number; bytes?: number },
): Promise<Watched> {
  const { promise, resolve } = Promise.withResolvers<Watched>()
  const reader = new ResponseReader(methodOf(request), 300_000)
  const beganAt = performance.now()
  const arrivals: number[] = []
  let headMs = NEVER
  const socket = connect(target)
  const finish = () => {
    clearTimeout(timer)
    socket.destroy()
    const { status = 0, headers = [], body = '' } = reader.response() ?? {}
    const { bodyLength: bytes } = reader
    const isWhole = headMs < NEVER && (reader.complete || reader.end())
    const endMs = isWhole ? performance.now() - beganAt : NEVER
    resolve({ path: request.target, status, headers, body: String(body), bytes, headMs, arrivals, endMs })
  }
  const timer = setTimeout(finish, ms)
  socket.on('error', finish).on('close', finish)
  socket.on('data', (chunk: Buffer) => {
    const before = reader.bodyLength
    try {
      reader.read(chunk, 0, chunk.length)
    } catch {
      return finish()
    }
    const ms = performance.now() - beganAt
    if (reader.status >= 200) headMs = Math.min(headMs, ms)
    if (reader.bodyLength > before && ms - (arrivals.at(-1) ?? -PART_MS) >= PART_MS) arrivals.push(ms)
    if (reader.complete || reader.bodyLength >= bytes) finish()
  })
  socket.write(requestBytes(request, authority(target)))
  return promise
}

/** Requests in turn, eight at a time, twenty on a connection. @returns how many got a response before the time was over */
export async function hammer(
  target: Target,
  requests: readonly Request[],
  { count, ms }: { count: number; ms: number },
): Promise<number> {
  let [seen, responded] = [0, 0]
  const onSeen = ({ status }: Seen) => {
    if (status !== undefined) responded++
    return ++seen > count - 8
  }
  const clients = startClients({ target, requests, count: 8, perConnection: 20, onSeen })
  await Promise.race([clients.ended, sleep(ms)])
  await clients.stop()
  clients.close()
  return responded
}

/** A connection that sends a request, or some bytes of one, and takes what comes without a look. */
export function send(target: Target, what: Request | string): Socket {
  const socket = connect(target)
    .on('error', () => {}) // being cut off
    .resume()
  const bytes = typeof what === 'string' ? what : requestBytes(what, authority(target))
  if (bytes.length > 0) socket.write(bytes)
  return socket
}

/** Sends a request and leaves, by a reset or a close. @param after the first bytes of the response, or so many milliseconds */
export async function leave(
  target: Target,
  request: Request,
  { after, resets }: { after: 'bytes' | number; resets: boolean },
): Promise<void> {
  const socket = send(target, request)
  const go = (): void => void (resets ? socket.resetAndDestroy() : socket.destroy())
  const closed = new Promise((resolve) => socket.once('close', resolve))
  socket.setTimeout(60_000, go)
  if (after === 'bytes') socket.once('data', go)
  else socket.write('', () => setTimeout(go, after))
  await closed
}

/** A client that keeps its connection. It sends no request again, although RFC 9110 (9.2.2) would allow that for GET. */
export class Client {
  readonly #target: Target
  readonly #patience: Patience
  #connection: Connection | undefined

  constructor(target: Target, patience: Patience = PATIENCE) {
    this.#target = target
    this.#patience = patience
  }

  /** Whether the server has left the connection open. */
  get isConnected(): boolean {
    return this.#connection?.isOpen === true
  }

  /** Sends a request, on a new connection if there is none. */
  async ask(request: Request | string): Promise<Seen> {
    const isReused = this.isConnected
    try {
      if (!isReused) {
        this.close()
        this.#connection = await openConnection(this.#target, this.#patience)
      }
      const response = this.#connection?.exchange(typeof request === 'string' ? { target: request } : request)
      return seen(await response, undefined, isReused)
    } catch (error) {
      if (!(error instanceof NoResponse)) throw error
      return seen(error.part, error, isReused)
    }
  }

  close(): void {
    this.#connection?.destroy()
    this.#connection = undefined
  }
}

function seen(response: Response | undefined, error: NoResponse | undefined, isReused: boolean): Seen {
  return { ...response, body: String(response?.body ?? ''), error, isReused }
}

/** What came: a status, or why nothing did. */
export function outcomeOf({ status, error }: Seen): string {
  if (status === undefined) return `no response (${error?.failure})`
  return error === undefined ? String(status) : `a part of the response (${status})`
}

export interface ClientsOptions {
  readonly target: Target
  /** In turn. */
  readonly requests: readonly Request[]
  /** Of clients. */
  readonly count: number
  /** Requests on a connection, default: for ever. */
  readonly perConnection?: number
  /** Milliseconds between a response and the next request of a client, default none: connections are idle at times, as in life. */
  readonly pauseMs?: number
  /** Called with whatever became of a request. @returns true if this client has had enough */
  onSeen(seen: Seen): unknown
}

/** Clients that send one request after another until they are stopped. `ended` resolves when none sends a request any more. */
export function startClients(options: ClientsOptions) {
  const { target, requests, count, perConnection = NEVER, pauseMs = 0, onSeen } = options
  const clients = Array.from({ length: count }, () => new Client(target))
  let [sent, isOver] = [0, false]
  const run = async (client: Client) => {
    for (let own = 1; !isOver; own++) {
      const seen = await client.ask(requests[sent++ % requests.length] ?? '/')
      if (onSeen(seen) === true) return
      if (own % perConnection === 0) client.close()
      if (pauseMs > 0) await sleep(pauseMs)
    }
  }
  const ended = Promise.all(clients.map(run))
  return {
    ended,
    /** Sends nothing new, and waits for what is in flight. Kept connections stay open. */
    stop() {
      isOver = true
      return ended
    },
    close() {
      isOver = true
      for (const client of clients) client.close()
    },
  }
}

/** What the link says if nobody listens at its other end: it has accepted the connection already. */
export const REFUSED = 421

/** A link to a server, with a latency of `ms` one way: what a client asks for and what the server closes may meet on it. */
export async function openLink(target: Target, ms: number): Promise<Server> {
  const link = createServer((near) => {
    const far = connect(target)
    far.on('error', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'ECONNREFUSED')
        near.end(`HTTP/1.1 ${REFUSED}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
    })
    for (const [from, to] of [[near, far] as const, [far, near] as const]) {
      from.on('data', (bytes) => setTimeout(() => to.writable && to.write(bytes), ms))
      from.on('error', () => {}).on('close', () => setTimeout(() => to.destroySoon(), ms))
    }
  })
  await once(link.listen(0, '127.0.0.1'), 'listening')
  return link
}
