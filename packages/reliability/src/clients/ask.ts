import { type Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import type { Target } from '@startgrid/wire/target.ts'

/** What a client saw of a response, up to its end or the cut. */
export interface Seen {
  /** Undefined: no response began. */
  status: number | undefined
  headers: IncomingHttpHeaders
  body: string
  isWhole: boolean
  /** Why it is not whole: a system error such as ECONNRESET, or SILENCE. */
  error: string | undefined
  /** The connection had been used before. */
  isReused: boolean
}

export interface AskOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** Default: a connection of its own. */
  readonly agent?: Agent
  /** Milliseconds without a byte, after which a client gives up; default 30,000, because machines are busy. */
  readonly timeoutMs?: number
  /** Called when the response begins. */
  onHead?(): void
}

export const SILENCE = 'nothing came in time'

/** One request. It is never sent again, although RFC 9110 (9.2.2) would allow that for GET. */
export async function ask(
  target: Target,
  path: string,
  { body, onHead, timeoutMs = 30_000, agent, ...options }: AskOptions = {},
): Promise<Seen> {
  const seen: Seen = {
    status: undefined,
    headers: {},
    body: '',
    isWhole: false,
    error: undefined,
    isReused: false,
  }
  const asking = request({ ...target, path, timeout: timeoutMs, agent: agent ?? false, ...options })
  try {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
    asking.once('timeout', () => asking.destroy(new Error(SILENCE)))
    asking.once('response', resolve).on('error', reject).end(body)
    const response = await promise
    seen.status = response.statusCode
    seen.headers = response.headers
    onHead?.()
    for await (const chunk of response.setEncoding('utf8')) seen.body += chunk
    seen.isWhole = response.complete
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    seen.error = code ?? message
  }
  seen.isReused = asking.reusedSocket
  // A server may have responded before it read the whole body.
  if (!asking.writableFinished) asking.destroy()
  return seen
}
