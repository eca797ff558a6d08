import { setTimeout as sleep } from 'node:timers/promises'
import type { Role } from '@startgrid/grid/apps.ts'
import { type Connection, openConnection } from '@startgrid/wire/client.ts'
import { NoResponse, type Response } from '@startgrid/wire/reader.ts'
import { headerValue, type Request } from '@startgrid/wire/request.ts'
import type { Target } from '@startgrid/wire/target.ts'

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
export async function ask(target: Target, request: Request | string): Promise<Seen> {
  const client = new Client(target)
  return client.ask(request).finally(() => client.close())
}

/** A client that keeps its connection. It sends no request again, although RFC 9110 (9.2.2) would allow that for GET. */
export class Client {
  readonly #target: Target
  #connection: Connection | undefined

  constructor(target: Target) {
    this.#target = target
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
        this.#connection = await openConnection(this.#target, PATIENCE)
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
  /** Default GET. */
  readonly method?: string
  /** The statuses that are right; default 200. */
  readonly statuses?: readonly number[]
  /** Clients that keep their connection. */
  readonly kept: number
  /** Clients that open a connection for each request; default 0. */
  readonly fresh?: number
  /** Milliseconds between a response and the next request of a client; default 50: connections are idle at times, as in life. */
  readonly pauseMs?: number
  /** Clients end when the server closes their connection between two requests, instead of opening another one. */
  readonly untilClosed?: boolean
  /**
   * Clients open another connection whenever one was closed, and end when a new one is refused. That is no failure. But it is one to be
   * told to leave (`connection: close`) and then to be served on a new connection.
   */
  readonly untilRefused?: boolean
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
    const { target, untilRefused, untilClosed, pauseMs = 50 } = this.#options
    const client = new Client(target)
    let isTold = false
    do {
      const { status, headers = [], error } = await this.#ask(client)
      if (untilRefused === true) {
        if (error?.failure === 'refused') break
        if (isTold && status !== undefined)
          this.#fail('a client was told to leave while the app still listened')
        isTold = headerValue(headers, 'connection') === 'close'
      }
      if (!keepAlive) client.close()
      await sleep(pauseMs)
    } while (!this.#over && (untilClosed !== true || client.isConnected))
    client.close()
  }

  async #ask(client: Client): Promise<Seen> {
    const { path, method = 'GET', statuses = [200], untilRefused, onSeen } = this.#options
    const seen = await client.ask({ method, target: path })
    onSeen?.(seen)
    const { status = 0, isReused, error } = seen
    if (error === undefined && statuses.includes(status)) this.responded += 1
    else if (error === undefined) this.#fail(`${method} ${path}: ${status}`)
    else if (status > 0) this.#fail(`${method} ${path}: the response (${status}) was cut off`)
    else if (isReused && isCut(error)) this.#crossed += 1
    else if (untilRefused !== true || error.failure !== 'refused')
      this.#fail(`${method} ${path} on a ${isReused ? 'kept' : 'new'} connection: ${outcomeOf(seen)}`)
    return seen
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

/** The same for requests that were sent while the server closed their connection. */
export function findCrossed({ crossed, responded }: Tally, when: string): string[] {
  if (crossed === 0) return []
  return [
    `${crossed} of ${responded + crossed} requests met a kept connection that was closed as idle ${when}.`,
  ]
}
