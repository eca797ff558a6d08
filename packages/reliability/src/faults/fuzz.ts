import { NoAnswer } from '@startgrid/conformance'
import type { Launch, Target } from '@startgrid/grid/launcher.ts'
import { seeded } from '@startgrid/loadgen'
import { NEVER_SHED } from '../clients.ts'
import type { Fault, Size } from '../fault.ts'
import type { Subject } from '../subject.ts'
import { findDeath, hasEnded } from '../wire/alive.ts'
import { converse, describeDialogue } from '../wire/dialogue.ts'
import { frontOf } from '../wire/front.ts'
import { fuzzedRequest } from '../wire/grammar.ts'
import { findMalformed } from '../wire/judge.ts'
import { findUnsent, LEDGER, LOGGED } from '../wire/ledger.ts'
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
      findings.push(...(await findUnsent(app, instance)))
    }
    return { findings, figures: { requests: REQUESTS[subject.size], seed: subject.seed } }
  },
}

const AT_ONCE = 24
/** Milliseconds until a silent server is taken to wait for more of a body. */
const SILENCE_MS = 300
/** And until a sound request counts as not answered, on a busy machine. */
const PATIENCE_MS = 20_000
/** Findings are told apart by people: a few are enough. */
const ENOUGH = 3

/** Sends the rounds from `first` to before `end`. @returns what was found, with the shortest request that shows it */
async function fuzzTarget(subject: Subject, app: Launch, target: Target, first: number, end: number) {
  const findings: string[] = []
  const inFlight = new Map<number, string>()
  let next = first
  const work = async (): Promise<void> => {
    while (next < end && findings.length < ENOUGH && !subject.signal.aborted && !hasEnded(app)) {
      const round = next
      next += 1
      const request = fuzzedRequest(seeded(subject.seed + round), `fuzz-${round}`)
      inFlight.set(round, request)
      const what = await tryRequest(target, request)
      if (hasEnded(app)) return
      inFlight.delete(round)
      if (what === undefined) continue
      const shortest = await shrink(request, async (text) => (await tryRequest(target, text)) !== undefined)
      findings.push(
        `Request ${round} of seed ${subject.seed}: ${what}. The shortest: ${JSON.stringify(shortest)}.`,
      )
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  const deaths = await findDeath(app)
  if (deaths.length > 0) findings.push(...deaths, ...(await findKiller(subject, inFlight)))
  return findings
}

/**
 * Sends one request with a sound one behind it, and a sound one of somebody else.
 * @returns what is wrong with what came back, as a phrase
 */
async function tryRequest(target: Target, request: string): Promise<string | undefined> {
  try {
    const behind = { until: 'behind', patienceMs: SILENCE_MS }
    const malformed = findMalformed(await converse(target, request + message('behind'), behind))
    if (malformed !== undefined) return malformed
    const other = await converse(target, message('other'), { until: 'other', patienceMs: PATIENCE_MS })
    const isSound = other.answers.length === 1 && other.answers[0]?.status === 404
    return isSound ? undefined : `somebody else's request got ${describeDialogue(other)}`
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    return error.message
  }
}

/** Which of the requests that were in flight ended the process. */
async function findKiller(subject: Subject, suspects: ReadonlyMap<number, string>): Promise<string[]> {
  let app = await subject.launch()
  const dies = async (request: string): Promise<boolean> => {
    if (hasEnded(app)) app = await subject.launch()
    await tryRequest(app.target, request)
    return (await findDeath(app)).length > 0
  }
  for (const [round, request] of suspects) {
    if (!(await dies(request))) continue
    const shortest = await shrink(request, dies)
    return [`Request ${round} of seed ${subject.seed} ends it. The shortest: ${JSON.stringify(shortest)}.`]
  }
  return [`None of the ${suspects.size} requests in flight ends it alone.`]
}
