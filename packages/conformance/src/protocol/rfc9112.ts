import { openConnection } from '@startgrid/wire/client.ts'
import type { Response } from '@startgrid/wire/reader.ts'
import { NoResponse } from '@startgrid/wire/reader.ts'
import { headerValue } from '@startgrid/wire/request.ts'
import type { Target } from '@startgrid/wire/target.ts'
import { FORMS, type Form, SOUND } from './forms.ts'

/** Milliseconds for a response or the end of the connection. */
const PATIENCE_MS = 3_000
/** Milliseconds for the second try of a form that matters, because the machine may be busy. */
const LAST_MS = 15_000
/** Only stops a connection that hangs: a busy machine may be slow. */
const CONNECT_MS = 30_000
const AT_ONCE = 8

/** Deviations of a server from RFC 9112. */
interface Deviations {
  /** One sentence per violated MUST. */
  readonly findings: string[]
  /** At most one sentence, about deviations from recommendations. */
  readonly notes: string[]
}

/** What a server did with a form and the sound request behind it. */
interface Dialogue {
  readonly responses: readonly Response[]
  /** The server closed the connection, the response to the sound request arrived, neither happened in time, or the bytes were not HTTP. */
  readonly ending: 'closed' | 'arrived' | 'silent' | 'malformed'
  /** What was malformed. */
  readonly detail?: string
}

/**
 * Sends every form, with a sound request behind it.
 * @throws {NoResponse} if nobody listens there
 */
export async function checkRfc9112(target: Target, forms: readonly Form[] = FORMS): Promise<Deviations> {
  const findings: string[] = []
  const unheeded: string[] = []
  const open = forms.entries()
  const work = async (): Promise<void> => {
    for (const [index, form] of open) {
      const deviation = await tryForm(form, `form-${index}`, target)
      if (deviation === undefined) continue
      if (form.advised) unheeded.push(`${form.name} (${form.section})`)
      else findings.push(`RFC 9112 ${form.section}, ${form.name}: ${deviation}.`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  const notes = unheeded.length > 0 ? [`Not as RFC 9112 advises: ${unheeded.join(', ')}.`] : []
  return { findings, notes }
}

async function tryForm(form: Form, id: string, target: Target): Promise<string | undefined> {
  const dialogue = await converse(target, form, id, PATIENCE_MS)
  const isLate = dialogue.ending === 'silent' && !form.advised
  return judgeForm(form, id, isLate ? await converse(target, form, id, LAST_MS) : dialogue)
}

/** Reads whole responses until that to the sound request, the end, or silence. */
async function converse(target: Target, form: Form, id: string, timeoutMs: number): Promise<Dialogue> {
  const behind = `${id}-behind`
  const text = form.text.replaceAll('ID', id) + SOUND.replaceAll('ID', behind)
  const connection = await openConnection(target, { timeoutMs, connectMs: CONNECT_MS })
  const responses: Response[] = []
  try {
    connection.send(Buffer.from(text, 'latin1'))
    for (;;) {
      const response = await connection.response()
      responses.push(response)
      if (idOf(response) === behind) return { responses, ending: 'arrived' }
    }
  } catch (error) {
    if (!(error instanceof NoResponse)) throw error
    const { failure, message: detail } = error
    if (failure === 'malformed') return { responses, ending: 'malformed', detail }
    // A reset: the server closed before it had read everything.
    return { responses, ending: failure === 'timeout' ? 'silent' : 'closed' }
  } finally {
    connection.destroy()
  }
}

/** The id of the request that a response belongs to; undefined where the parser responded. */
function idOf({ headers }: Response): string | undefined {
  return headerValue(headers, 'x-request-id')
}

/**
 * What a server did with a form against the form's duty, as a phrase.
 * @returns undefined if it did its duty
 */
function judgeForm(form: Form, id: string, dialogue: Dialogue): string | undefined {
  const { responses, ending, detail } = dialogue
  const { duty, statuses = [400] } = form
  const [first] = responses
  // The id shows that a handler responded: a parser that rejects does not know it.
  const isServed = first?.status === 404 && idOf(first) === id && ending === 'arrived'
  const isRejected = first !== undefined && statuses.includes(first.status) && ending !== 'silent'
  const isClosed = ending === 'closed'
  // Without `connection: close`, NGINX reuses the connection for the next client, which gets a 502.
  const saysClose = first !== undefined && headerValue(first.headers, 'connection') === 'close'
  const done = {
    reject: isRejected,
    refuse: isRejected && isClosed && saysClose,
    close: isClosed,
    mend: isRejected || isServed,
    serve: isServed,
  }[duty]
  if (done) return findMalformed(dialogue)
  const end = { closed: 'closed', arrived: 'and reads on', silent: 'then silence', malformed: detail }
  const wanted = {
    reject: statuses.join(' or '),
    refuse: `${statuses.join(' or ')}, connection: close, closed`,
    close: 'the end of the connection',
    mend: `${statuses.join(' or ')}, or what it means`,
    serve: 'a response to both',
  }[duty]
  return `${[...responses.map(({ status }) => status), end[ending]].join(', ')} instead of ${wanted}`
}

/** A defect that no response may have, whatever the request was, as a phrase. */
function findMalformed({ responses, ending, detail }: Dialogue): string | undefined {
  if (ending === 'malformed') return `no HTTP came back: ${detail}`
  for (const { status, faults } of responses) {
    if (status >= 500 && status !== 501 && status !== 505) return `${status} came back`
    if (faults.length > 0) return `${status} came back with ${faults.join('; ')}`
  }
  return undefined
}
