import { setTimeout as sleep } from 'node:timers/promises'
import { type Asked, askOften, bodyOf, quote } from '@startgrid/servers/request.ts'
import { openConnection } from '@startgrid/wire/client.ts'
import { NoResponse, type Response } from '@startgrid/wire/reader.ts'
import type { Target } from '@startgrid/wire/target.ts'
import { differenceOf, type Learnt, learn } from './equal-work.ts'

/** What a server was asked under load, and what it gave before. */
export interface Known {
  asked: Asked
  status: number
  learnt: Learnt
  first: Response
  /** All bodies so far are those of the first one, byte by byte. */
  isFixed: boolean
}

const PATIENCE_MS = 3000
/** A server that does it under load mostly does it now. */
const MOST_RESPONSES = 300
const MOST_MS = 2000

/**
 * Why requests failed, which the kinds of their errors alone do not say.
 * @returns a clause that quotes bodies, for a person's eyes; undefined if nothing is found
 */
export async function causeOf(
  errors: Readonly<Record<string, number>>,
  { target, known, connections }: { target: Target; known: readonly Known[]; connections: number },
): Promise<string | undefined> {
  if ('status' in errors || 'body' in errors)
    for (const one of known) {
      // All at once: a server that sheds load is right when it is asked alone.
      const asking = Array.from({ length: connections }, () => otherResponse(target, one).catch(unlessNone))
      const found = (await Promise.all(asking)).find((says) => says !== undefined)
      if (found !== undefined) return found
    }
  if ('reset' in errors || 'connect' in errors) {
    const kept = await keptOpen(target, connections)
    if (kept < connections)
      return `it keeps only ${kept} of ${connections} connections open: try -c ${Math.max(1, kept)}`
    for (const one of known) {
      const served = await servedByOne(target, one.asked).catch(unlessNone)
      if (served !== undefined)
        return `it closes each connection after ${served} responses without saying so (connection: close), and a request on its way is lost: let it keep them`
    }
  }
  return undefined
}

/** Who gets no response now learns nothing. */
function unlessNone(error: unknown): undefined {
  if (!(error instanceof NoResponse)) throw error
}

async function otherResponse(
  target: Target,
  { asked, status, learnt, first }: Known,
): Promise<string | undefined> {
  for await (const { response } of askForAWhile(target, asked)) {
    if (response.status !== status)
      return `it now responds with status ${response.status}: ${quote(response)}`
    if (differenceOf(learn([bodyOf(response)]).template, learnt.template) !== undefined)
      return `at first it responded ${quote(first)}, and later ${quote(response)}: if it was still starting, --ready-path says what tells that it is ready`
  }
  return undefined
}

/** Of connections that are opened at once and say nothing. */
async function keptOpen(target: Target, count: number): Promise<number> {
  const opening = Array.from({ length: count }, () =>
    openConnection(target, { timeoutMs: PATIENCE_MS }).catch(() => undefined),
  )
  const opened = await Promise.all(opening)
  await sleep(300)
  const kept = opened.filter((one) => one?.isOpen).length
  for (const one of opened) one?.destroy()
  return kept
}

/** Responses on one connection before it was closed; undefined if it was not. */
async function servedByOne(target: Target, asked: Asked): Promise<number | undefined> {
  for await (const { connection, count } of askForAWhile(target, asked)) if (connection > 1) return count
  return undefined
}

/** @returns what it responds, with the number of responses before that */
async function* askForAWhile(target: Target, asked: Asked) {
  const until = performance.now() + MOST_MS
  let count = 0
  for await (const one of askOften(target, asked, PATIENCE_MS)) {
    yield { ...one, count }
    if (++count === MOST_RESPONSES || performance.now() > until) return
  }
}
