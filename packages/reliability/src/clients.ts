import { setTimeout as sleep } from 'node:timers/promises'
import type { Role } from '@startgrid/grid/apps.ts'
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

/** A response as it came, until its end or until somebody had enough. Times are milliseconds since the request. */
export interface Watched {
  readonly status: number
  readonly headers: readonly Header[]
  /** The first 300 kB of the body. */
  readonly body: string
  readonly bytes: number
  readonly headMs: number | undefined
  /** When parts of the body arrived. */
  readonly arrivals: readonly number[]
  readonly endMs: number | undefined
}

/** Reads a response for at most so long, or so many bytes. */
export function watch(
  target: Target,
  request: Request,
  { ms, bytes = Number.POSITIVE_INFINITY }: { ms: number; bytes?: number },
): Promise<Watched> {
  const { promise, resolve } = Promise.withResolvers<Watched>()
  const reader = new ResponseReader(methodOf(request), 300_000)
  const beganAt = performance.now()
  const arrivals: number[] = []
  let headMs: number | undefined
  const socket = connect(target)
  const finish = () => {
    clearTimeout(timer)
    socket.destroy()
    const { status = 0, headers = [], body = '' } = reader.response() ?? {}
    const isWhole = headMs !== undefined && (reader.complete || reader.end())
    const endMs = isWhole ? performance.now() - beganAt : undefined
    resolve({ status, headers, body: String(body), bytes: reader.bodyLength, headMs, arrivals, endMs })
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
    if (reader.status >= 200) headMs ??= performance.now() - beganAt
    if (reader.bodyLength > before) arrivals.push(performance.now() - beganAt)
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
  const until = performance.now() + ms
  let [sent, responded] = [0, 0]
  const work = async () => {
    const client = new Client(target)
    for (let own = 1; sent < count && performance.now() < until; own++) {
      const { status } = await client.ask(requests[sent++ % requests.length] ?? '/')
      if (status !== undefined) responded++
      if (own % 20 === 0) client.close()
    }
    client.close()
  }
  await Promise.all(Array.from({ length: 8 }, work))
  return responded
}

interface Leaving {
  /** After the first bytes of the response; else right after the request was sent. */
  readonly sawBytes: boolean
  /** By a reset instead of a close. */
  readonly resets: boolean
}

/** Sends bytes and leaves. @throws {Error} if there is no connection, or no response to leave, within 60 s */
export function leave(target: Target, bytes: Uint8Array, { sawBytes, resets }: Leaving): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const socket = connect(target)
  const go = (): void => void (resets ? socket.resetAndDestroy() : socket.destroy())
  socket.setTimeout(60_000, () => socket.destroy(new Error('There was no response to leave within 60 s.')))
  socket.once('error', reject).once('close', () => resolve())
  socket.write(bytes, () => {
    if (!sawBytes) setImmediate(go)
  })
  if (sawBytes) socket.once('data', go)
  return promise
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
  return status === undefined ? `no response (${error?.failure})` : String(status)
}

/** Whether the server has closed the connection, in whatever way. */
export function isCut(error: NoResponse | undefined): boolean {
  return error?.failure === 'closed' || error?.failure === 'reset'
}

/** A path of each role that takes a few milliseconds at most, because these clients test connections, not capacity. */
export const LIGHT: Readonly<Record<Role, string>> = {
  hello: '/json',
  ssr: '/?items=0',
  status: '/_/status',
}

export interface ClientsOptions {
  readonly target: Target
  readonly path: string
  readonly headers?: readonly Header[]
  /** The statuses that are right; default 200. */
  readonly statuses?: readonly number[]
  /** Clients that keep their connection. */
  readonly kept: number
  /** Clients that open a connection for each request; default 0. */
  readonly fresh?: number
  /** Milliseconds between a response and the next request of a client; default 50: connections are idle at times, as in life. */
  readonly pauseMs?: number
  /** Called with whatever became of a request. */
  onSeen?(seen: Seen): void
}

/** What became of the requests. */
export interface Tally {
  readonly responded: number
  /** Requests on a kept connection that ended before a byte of the response: the server was closing it as idle. */
  readonly crossed: number
  /** Everything else that went wrong: what, and how often. */
  readonly failures: ReadonlyMap<string, number>
}

/** Clients that send one request after another until they are stopped. Each request without a correct response counts. */
export class Clients {
  responded = 0
  /** Resolves when all clients have ended. */
  readonly ended: Promise<Tally>
  readonly #options: ClientsOptions
  readonly #failures = new Map<string, number>()
  #crossed = 0
  #over = false

  constructor(options: ClientsOptions) {
    this.#options = options
    const { kept, fresh = 0 } = options
    const clients = Array.from({ length: kept + fresh }, (_, index) => this.#run(index < kept))
    this.ended = Promise.all(clients).then(() => ({
      responded: this.responded,
      crossed: this.#crossed,
      failures: this.#failures,
    }))
  }

  /** Sends nothing new, and waits for what is in flight. */
  stop(): Promise<Tally> {
    this.#over = true
    return this.ended
  }

  async #run(keepAlive: boolean): Promise<void> {
    const { target, pauseMs = 50 } = this.#options
    const client = new Client(target)
    do {
      await this.#ask(client)
      if (!keepAlive) client.close()
      await sleep(pauseMs)
    } while (!this.#over)
    client.close()
  }

  async #ask(client: Client): Promise<void> {
    const { path, headers = [], statuses = [200], onSeen } = this.#options
    const seen = await client.ask({ target: path, headers })
    onSeen?.(seen)
    const { status = 0, isReused, error } = seen
    if (error === undefined && statuses.includes(status)) this.responded += 1
    else if (error === undefined) this.#fail(`GET ${path}: ${status}`)
    else if (status > 0) this.#fail(`GET ${path}: the response (${status}) was cut off`)
    else if (isReused && isCut(error)) this.#crossed += 1
    else this.#fail(`GET ${path} on a ${isReused ? 'kept' : 'new'} connection: ${outcomeOf(seen)}`)
  }

  #fail(what: string): void {
    this.#failures.set(what, (this.#failures.get(what) ?? 0) + 1)
  }
}

/** The findings of a tally. @param when ends the sentence, such as `while it drained` */
export function findFailures({ responded, failures }: Tally, when: string): string[] {
  const lost = [...failures].map(([what, times]) => `${what} (${times} times)`)
  if (lost.length > 0)
    return [`Requests failed ${when}: ${lost.join('; ')}. ${responded} others got a response.`]
  return responded === 0 ? [`No request got a response ${when}.`] : []
}
