import { NoAnswer, type Target } from '@startgrid/conformance'
import type { Answer } from '@startgrid/conformance/http/answer.ts'
import { Connection } from '@startgrid/conformance/http/connection.ts'

/** What came back on one connection. */
export interface Dialogue {
  readonly answers: readonly Answer[]
  /**
   * How it ended: `closed` by the server, `answered` when the awaited answer had come, `silent` when neither happened in
   * time, `malformed` when what came was no HTTP.
   */
  readonly ending: 'closed' | 'answered' | 'silent' | 'malformed'
  /** What was malformed. */
  readonly detail?: string
}

export interface DialogueOptions {
  /** The X-Request-Id of the answer that ends the dialogue. */
  readonly until: string
  /** Milliseconds of silence that end it. */
  readonly patienceMs: number
  readonly signal?: AbortSignal
}

/** A busy machine takes its time, and that says nothing. */
const CONNECT_MS = 20_000

/**
 * Sends bytes on a connection of their own and reads whole answers until the awaited one, the end, or silence.
 * @throws {NoAnswer} if nobody listens there
 */
export async function converse(target: Target, bytes: string, options: DialogueOptions): Promise<Dialogue> {
  const { until, patienceMs: timeoutMs, signal } = options
  const connection = await Connection.open(target, { timeoutMs, connectMs: CONNECT_MS, signal })
  const answers: Answer[] = []
  try {
    await connection.send(Buffer.from(bytes, 'latin1'))
    for (;;) {
      const answer = await connection.answer()
      answers.push(answer)
      if (idOf(answer) === until) return { answers, ending: 'answered' }
    }
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    return { answers, ...endingOf(error) }
  } finally {
    connection.destroy()
  }
}

function endingOf({ failure, message }: NoAnswer): Pick<Dialogue, 'ending' | 'detail'> {
  // A reset: the server closed and did not read what was still on its way.
  if (failure === 'closed' || failure === 'reset') return { ending: 'closed' }
  if (failure === 'timeout') return { ending: 'silent' }
  if (failure === 'malformed') return { ending: 'malformed', detail: message }
  throw new NoAnswer(failure, message)
}

/** The id of the request that an answer belongs to; undefined where a parser answered. */
export function idOf(answer: Answer): string | undefined {
  return answer.headers.find(([name]) => name.toLowerCase() === 'x-request-id')?.[1]
}

/** The dialogue for a reader: `400, closed`. */
export function describeDialogue({ answers, ending, detail }: Dialogue): string {
  const end = { closed: 'closed', answered: 'and reads on', silent: 'then silence', malformed: detail }
  return [...answers.map(({ status }) => status), end[ending]].join(', ')
}
