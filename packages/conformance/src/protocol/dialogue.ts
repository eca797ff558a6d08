import { openConnection } from '../http/connection.ts'
import type { HttpResponse } from '../http/response.ts'
import { NoResponse } from '../http/source.ts'
import type { Target } from '../http/target.ts'
import { message } from './message.ts'

/** The responses on one connection. */
export interface Dialogue {
  readonly responses: readonly HttpResponse[]
  /**
   * How it ended: the server `closed` the connection, the awaited response `arrived`, neither happened in time (`silent`),
   * or the bytes were not HTTP (`malformed`).
   */
  readonly ending: 'closed' | 'arrived' | 'silent' | 'malformed'
  /** What was malformed. */
  readonly detail?: string
}

export interface DialogueOptions {
  /** The X-Request-Id of the response that ends the dialogue; by default the first one does. */
  readonly until?: string
  /** Milliseconds of silence that end it. */
  readonly patienceMs: number
  readonly signal?: AbortSignal | undefined
}

/** Only stops a connection that hangs: a busy machine may be slow. */
const CONNECT_MS = 30_000

/**
 * Sends bytes on a new connection and reads whole responses until the awaited one, the end, or silence.
 * @throws {NoResponse} if nobody listens there
 */
export async function converse(target: Target, bytes: string, options: DialogueOptions): Promise<Dialogue> {
  const { until, patienceMs: timeoutMs, signal } = options
  const connection = await openConnection(target, { timeoutMs, connectMs: CONNECT_MS, signal })
  const responses: HttpResponse[] = []
  try {
    await connection.send(Buffer.from(bytes, 'latin1'))
    for (;;) {
      const response = await connection.response()
      responses.push(response)
      if (until === undefined || idOf(response) === until) return { responses, ending: 'arrived' }
    }
  } catch (error) {
    if (!(error instanceof NoResponse)) throw error
    return { responses, ...endingOf(error) }
  } finally {
    connection.destroy()
  }
}

function endingOf({ failure, message: detail }: NoResponse): Pick<Dialogue, 'ending' | 'detail'> {
  // A reset: the server closed before it had read everything.
  if (failure === 'closed' || failure === 'reset') return { ending: 'closed' }
  if (failure === 'timeout') return { ending: 'silent' }
  if (failure === 'malformed') return { ending: 'malformed', detail }
  throw new NoResponse(failure, detail)
}

/** The id of the request that a response belongs to; undefined where the parser responded. */
export function idOf(response: HttpResponse): string | undefined {
  return response.headers.find(([name]) => name.toLowerCase() === 'x-request-id')?.[1]
}

/** The dialogue for a reader: `400, closed`. */
export function describeDialogue({ responses, ending, detail }: Dialogue): string {
  const end = { closed: 'closed', arrived: 'and reads on', silent: 'then silence', malformed: detail }
  return [...responses.map(({ status }) => status), end[ending]].join(', ')
}

/** A defect that no response may have, whatever the request was, as a phrase. */
export function findMalformed({ responses, ending, detail }: Dialogue): string | undefined {
  if (ending === 'malformed') return `no HTTP came back: ${detail}`
  for (const { status, faults } of responses) {
    if (status >= 500 && status !== 501 && status !== 505) return `${status} came back`
    if (faults.length > 0) return `${status} came back with ${faults.join('; ')}`
  }
  return undefined
}

/** Finds a server that has ended or no longer responds to `/livez` with 200. @returns a sentence, or nothing */
export async function findSilence(target: Target): Promise<string[]> {
  const status = await livezStatus(target)
  return status === 200 ? [] : [`/livez gives ${status ?? 'no response'} afterwards.`]
}

/** The status of `/livez` on a new connection; undefined without a response. */
export async function livezStatus(target: Target): Promise<number | undefined> {
  const request = message('alive', { line: 'GET /livez HTTP/1.1', fields: ['Connection: close'] })
  try {
    const { responses } = await converse(target, request, { patienceMs: 30_000 })
    return responses[0]?.status
  } catch (error) {
    if (!(error instanceof NoResponse)) throw error
    return undefined
  }
}
