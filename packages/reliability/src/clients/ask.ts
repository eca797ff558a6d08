import { type Connection, openConnection } from '@startgrid/wire/client.ts'
import { NoResponse, type Response } from '@startgrid/wire/reader.ts'
import type { Request } from '@startgrid/wire/request.ts'
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
