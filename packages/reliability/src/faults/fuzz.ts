import { NoAnswer } from '@startgrid/conformance'
import { shorten } from '@startgrid/conformance/http/request.ts'
import { type Launch, NEVER_SHED, type Target } from '@startgrid/grid/launcher.ts'
import { seeded } from '@startgrid/loadgen'
import type { Fault, Size } from '../fault.ts'
import { findDeath, hasEnded, isEnding } from '../subject/alive.ts'
import { frontOf } from '../subject/front.ts'
import { findUnsent, LEDGER, LOGGED } from '../subject/ledger.ts'
import type { Subject } from '../subject/subject.ts'
import { converse, idOf } from '../wire/dialogue.ts'
import { fuzzedRequest } from '../wire/grammar.ts'
import { findMalformed, idBehind } from '../wire/judge.ts'
import { message } from '../wire/message.ts'
import { shrink } from '../wire/shrink.ts'

/** How many requests, half of them direct, half through NGINX. */
const REQUESTS: Readonly<Record<Size, number>> = { short: 1_500, full: 100_000 }

/** Requests at random, each on a connection of its own with a sound one behind it. */
export const fuzz: Fault = {
  name: 'fuzz',
  title: '100,000 requests at random on raw sockets, direct and behind NGINX',
  expected: 'no crash, no 500, 502 or 504, nothing but HTTP comes back, app and NGINX read the same requests',
  atOnce: 2,
  async run(subject) {
    const rounds = REQUESTS[subject.size] / 2
    const direct = await subject.launch({ env: NEVER_SHED })
    const findings = await fuzzTarget(subject, direct, direct.target, 0, rounds)
    if (subject.nginx !== undefined) {
      const app = await subject.launch({ env: { ...NEVER_SHED, ...LOGGED } })
      const { instance, target } = await frontOf(subject, app, LEDGER)
      const proxied = await fuzzTarget(subject, app, target, rounds, 2 * rounds)
      findings.push(...proxied.map((finding) => `Behind NGINX: ${finding}`))
      for (const id of await findUnsent(app, instance))
        findings.push(`The app read a request ${id} of seed ${subject.seed} that NGINX did not send.`)
    }
    return { findings, figures: { requests: REQUESTS[subject.size], seed: subject.seed } }
  },
}

/** No two seeds have a request in common. */
const MOST_ROUNDS = 1_000_000
const AT_ONCE = 96
/** A process goes on for a moment after the request that ends it. */
const REMEMBERED = 4 * AT_ONCE
/** Milliseconds until a silent server is taken to wait for more of a body. */
const SILENCE_MS = 300
/** Findings are told apart by people: a few are enough. */
const ENOUGH = 3
/** Characters of a request that are shown. */
const LONGEST = 2_000

/** Sends the rounds from `first` to before `end`. @returns what was found, with the shortest request that shows it */
async function fuzzTarget(subject: Subject, app: Launch, target: Target, first: number, end: number) {
  const findings: string[] = []
  const recent = new Map<number, string>()
  let next = first
  let failed = 0
  const work = async (): Promise<void> => {
    while (next < end && failed < ENOUGH && !subject.signal.aborted && !hasEnded(app)) {
      const round = next
      next += 1
      const id = `fuzz-${round}`
      const request = fuzzedRequest(seeded(subject.seed * MOST_ROUNDS + round), id)
      recent.set(round, request).delete(round - REMEMBERED)
      const what = await tryRequest(target, id, request)
      if (what === undefined || (await isEnding(app)) || failed === ENOUGH) continue
      failed += 1
      const fails = async (text: string) => (await tryRequest(target, id, text)) !== undefined
      const repeats = await fails(request)
      const shown = shorten(repeats ? await shrink(request, fails) : request, LONGEST)
      const which = repeats ? 'The shortest' : 'Not when it was sent again'
      findings.push(`Request ${round} of seed ${subject.seed}: ${what}. ${which}: "${shown}".`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  const deaths = await findDeath(app)
  if (deaths.length > 0) findings.push(...deaths, ...(await findKiller(subject, recent)))
  return findings
}

/** Sends one request and a sound one behind it. @returns what is wrong with what came back, as a phrase */
async function tryRequest(target: Target, id: string, request: string): Promise<string | undefined> {
  const behind = idBehind(id)
  try {
    const bytes = request + message(behind)
    const dialogue = await converse(target, bytes, { until: behind, patienceMs: SILENCE_MS })
    const foreign = dialogue.answers.map(idOf).find((other) => other !== behind && other?.endsWith('.behind'))
    return foreign === undefined
      ? findMalformed(dialogue)
      : `the answer to somebody else's ${foreign} came back`
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    return error.message.replace(/\.$/, '')
  }
}

/** Which of these requests ends the process. */
async function findKiller(subject: Subject, suspects: ReadonlyMap<number, string>): Promise<string[]> {
  let app = await subject.launch()
  let isDown = false
  const dies = async (request: string): Promise<boolean> => {
    if (isDown) app = await subject.launch()
    await tryRequest(app.target, 'suspect', request)
    isDown = (await findDeath(app)).length > 0
    return isDown
  }
  for (const [round, request] of suspects) {
    if (!(await dies(request))) continue
    const shortest = shorten(await shrink(request, dies), LONGEST)
    return [`Request ${round} of seed ${subject.seed} ends it. The shortest: "${shortest}".`]
  }
  return [`None of the last ${suspects.size} requests ends it alone.`]
}
