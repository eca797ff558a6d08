import { headerValues } from '../http/header.ts'
import type { Target } from '../http/target.ts'
import { converse, type Dialogue, describeDialogue, findMalformed, idOf } from './dialogue.ts'
import { FORMS, type Form } from './forms.ts'
import { idBehind, message } from './message.ts'

/** Milliseconds for a response or the end of the connection. */
const PATIENCE_MS = 3_000
/** Milliseconds for the second try of a form that matters, because the machine may be busy. */
const LAST_MS = 15_000
const AT_ONCE = 8

/** Deviations of a server from RFC 9112. */
export interface Deviations {
  /** One sentence per violated MUST. */
  readonly findings: string[]
  /** At most one sentence, about deviations from recommendations. */
  readonly notes: string[]
}

/**
 * Sends every form, with a sound request behind it.
 * @throws {NoResponse} if nobody listens there, or when the signal stops it
 */
export async function checkRfc9112(target: Target, signal?: AbortSignal): Promise<Deviations> {
  const findings: string[] = []
  const unheeded: string[] = []
  const open = FORMS.entries()
  const work = async (): Promise<void> => {
    for (const [index, form] of open) {
      const deviation = await tryForm(form, `form-${index}`, target, signal)
      if (deviation === undefined) continue
      if (form.advised) unheeded.push(`${form.name} (${form.section})`)
      else findings.push(`RFC 9112 ${form.section}, ${form.name}: ${deviation}.`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  const notes = unheeded.length > 0 ? [`Not as RFC 9112 advises: ${unheeded.join(', ')}.`] : []
  return { findings, notes }
}

async function tryForm(form: Form, id: string, target: Target, signal: AbortSignal | undefined) {
  const bytes = form.bytes(id) + message(idBehind(id))
  const send = (patienceMs: number) => converse(target, bytes, { until: idBehind(id), patienceMs, signal })
  const dialogue = await send(PATIENCE_MS)
  const isLate = dialogue.ending === 'silent' && !form.advised
  return judgeForm(form, id, isLate ? await send(LAST_MS) : dialogue)
}

/**
 * What a server did with a form and the request behind it against the form's duty, as a phrase.
 * @returns undefined if it did its duty
 */
function judgeForm(form: Form, id: string, dialogue: Dialogue): string | undefined {
  const { responses, ending } = dialogue
  const did = describeDialogue(dialogue)
  const { duty, statuses = [400] } = form
  const [first] = responses
  // The id shows that a handler responded: a parser that rejects does not know it.
  const isServed = first?.status === 404 && idOf(first) === id && ending === 'arrived'
  const isRejected = first !== undefined && statuses.includes(first.status) && ending !== 'silent'
  const isClosed = ending === 'closed'
  // Without `connection: close`, NGINX reuses the connection for the next client, which gets a 502.
  const saysClose = first !== undefined && headerValues(first.headers, 'connection').join() === 'close'
  const done = {
    reject: isRejected,
    refuse: isRejected && isClosed && saysClose,
    close: isClosed,
    mend: isRejected || isServed,
    serve: isServed,
  }[duty]
  if (done) return findMalformed(dialogue)
  const wanted = {
    reject: statuses.join(' or '),
    refuse: `${statuses.join(' or ')}, connection: close, closed`,
    close: 'the end of the connection',
    mend: `${statuses.join(' or ')}, or what it means`,
    serve: 'a response to both',
  }[duty]
  return `${did} instead of ${wanted}`
}
