import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '@startgrid/stats/random.ts'
import { shorten } from '../http/request.ts'
import { NoResponse } from '../http/source.ts'
import type { Target } from '../http/target.ts'
import { converse, findMalformed, findSilence, idOf, livezStatus } from './dialogue.ts'
import { fuzzedRequest } from './grammar.ts'
import { idBehind, message } from './message.ts'
import { shrink } from './shrink.ts'

export interface FuzzOptions {
  /** Of the random requests. */
  readonly seed: number
  /** How many, up to a million. */
  readonly requests: number
  /** The number of the first one; default 0. */
  readonly first?: number
  /** Starts the server again after it has ended, so that the request that ends it can be found. */
  readonly restart?: () => Promise<Target>
  /** Milliseconds of silence after which the server probably waits for more of a body; default 300. A busy machine needs more. */
  readonly silenceMs?: number
  readonly signal?: AbortSignal | undefined
}

/** Seeds below 4,000 have no request in common. */
const MOST_REQUESTS = 1_000_000
const AT_ONCE = 96
/** A process continues for a moment after the request that ends it. */
const REMEMBERED = 4 * AT_ONCE
/** A few findings are enough, because a person reads them. */
const ENOUGH = 3
/** Characters of a request that are shown. */
const LONGEST = 2_000

/**
 * Sends random requests, each on its own connection and followed by a valid request. Seed and number determine each request.
 * @returns invalid responses, with the shortest request that causes each
 */
export async function fuzz(target: Target, options: FuzzOptions): Promise<string[]> {
  const { seed, requests, first = 0, restart, silenceMs = 300, signal } = options
  const findings: string[] = []
  const recent = new Map<number, string>()
  const late: (() => Promise<string>)[] = []
  let next = first
  let isDown = false
  const isOver = () => findings.length >= ENOUGH || isDown || signal?.aborted === true
  const work = async (): Promise<void> => {
    while (next < first + requests && !isOver()) {
      const number = next
      next += 1
      const id = `fuzz-${number}`
      const request = fuzzedRequest(createRandom(seed * MOST_REQUESTS + number), id)
      recent.set(number, request).delete(number - REMEMBERED)
      const what = await tryRequest(target, id, request, silenceMs)
      if (what === undefined) continue
      const describe = async () =>
        `Request ${number} of seed ${seed}: ${what}. ${await shortest(target, id, request, silenceMs)}`
      isDown ||= await isEnding(target)
      if (isOver()) late.push(describe)
      else {
        const place = findings.push('') - 1
        findings[place] = await describe()
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  const silence = await findSilence(target)
  if (silence.length === 0) {
    // On a busy machine a server that lives may be late with its response to `/livez`.
    for (const describe of late.slice(0, ENOUGH - findings.length)) findings.push(await describe())
    return findings
  }
  return [...findings, ...silence, await findKiller(recent, seed, silenceMs, restart)]
}

/** Whether the server does not respond to `/livez`, now or in a moment. */
async function isEnding(target: Target): Promise<boolean> {
  for (let tries = 0; tries < 10; tries += 1) {
    if ((await livezStatus(target)) !== 200) return true
    await sleep(20)
  }
  return false
}

/** Sends one request and a sound one behind it. @returns what is wrong with what came back, as a phrase */
async function tryRequest(
  target: Target,
  id: string,
  request: string,
  silenceMs: number,
): Promise<string | undefined> {
  const behind = idBehind(id)
  try {
    const bytes = request + message(behind)
    const dialogue = await converse(target, bytes, { until: behind, patienceMs: silenceMs })
    const foreign = dialogue.responses
      .map(idOf)
      .find((other) => other !== behind && other?.endsWith('.behind'))
    return foreign === undefined ? findMalformed(dialogue) : `the response to ${foreign} came back`
  } catch (error) {
    if (!(error instanceof NoResponse)) throw error
    return error.message.replace(/\.$/, '')
  }
}

async function shortest(target: Target, id: string, request: string, silenceMs: number): Promise<string> {
  const fails = async (text: string) => (await tryRequest(target, id, text, silenceMs)) !== undefined
  if (!(await fails(request))) return `Not when it was sent again: "${shorten(request, LONGEST)}".`
  return `The shortest: "${shorten(await shrink(request, fails), LONGEST)}".`
}

/** Which of the recent requests ends the process, as a sentence. */
async function findKiller(
  recent: ReadonlyMap<number, string>,
  seed: number,
  silenceMs: number,
  restart: FuzzOptions['restart'],
): Promise<string> {
  const among = `the last ${recent.size} of seed ${seed}, up to ${Math.max(...recent.keys())}`
  if (restart === undefined) return `The request that ends it is among ${among}.`
  let target = await restart()
  let isDown = false
  const ends = async (request: string): Promise<boolean> => {
    if (isDown) target = await restart()
    await tryRequest(target, 'suspect', request, silenceMs)
    isDown = (await livezStatus(target)) !== 200
    return isDown
  }
  for (const [number, request] of recent) {
    if (!(await ends(request))) continue
    const shown = shorten(await shrink(request, ends), LONGEST)
    return `Request ${number} of seed ${seed} ends it. The shortest: "${shown}".`
  }
  return `No request among ${among} ends it alone.`
}
