import { headerValues } from '@startgrid/conformance/http/header.ts'
import { type Dialogue, describeDialogue, idOf } from './dialogue.ts'
import type { Form } from './forms.ts'
import { message } from './message.ts'

/** The id of the request that is sent right behind a form. */
export function idBehind(id: string): string {
  return `${id}.behind`
}

/** A form and a sound request behind it. */
export function formBytes(form: Form, id: string): string {
  return form.bytes(id) + message(idBehind(id))
}

/**
 * What a server did with a form and the request behind it against the form's duty, as a phrase.
 * @returns undefined if it did its duty
 */
export function judgeForm(form: Form, id: string, dialogue: Dialogue): string | undefined {
  const { answers, ending } = dialogue
  const did = describeDialogue(dialogue)
  const { duty, statuses = [400] } = form
  const [first] = answers
  // A handler has answered: a parser that refuses does not know the id.
  const isServed = first?.status === 404 && idOf(first) === id && ending === 'answered'
  const isRejected = first !== undefined && statuses.includes(first.status) && ending !== 'silent'
  const isClosed = ending === 'closed'
  // Else NGINX keeps the connection for somebody else's request, which meets its end: 502.
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
    serve: 'an answer to both',
  }[duty]
  return `${did} instead of ${wanted}`
}

/** What no answer may be, whatever it answers, as a phrase. */
export function findMalformed({ answers, ending, detail }: Dialogue): string | undefined {
  if (ending === 'malformed') return `no HTTP came back: ${detail}`
  for (const { status, faults } of answers) {
    if (status >= 500 && status !== 501 && status !== 505) return `${status} came back`
    if (faults.length > 0) return `${status} came back with ${faults.join('; ')}`
  }
  return undefined
}
