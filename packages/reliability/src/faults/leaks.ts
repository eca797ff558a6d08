import { until } from '@startgrid/cli/until.ts'
import { type Launch, NEVER_SHED } from '@startgrid/grid/launcher.ts'
import { methodOf } from '@startgrid/wire/request.ts'
import { ask, Client, outcomeOf } from '../clients/ask.ts'
import { LIGHT } from '../clients/clients.ts'
import { abortsOf, leave, stepsOf } from '../clients/mix.ts'
import { countFiles, type Footprint, footprintOf, measurable } from '../footprint.ts'
import type { Fault, Subject } from '../subject.ts'
import { oversizedRequests } from './limits.ts'

/** How often the app is looked at, each time after the same work. What it fills once, it has filled in the first two. */
const LOOKS = 10

/** Clients that ask for everything, and how often each does before a look. */
const CLIENTS = 3
const ROUNDS = 5

/** Clients that leave before a look, all at once: so many that pages wait in line in the app, and that some leave while theirs waits. */
const LEAVING = 100

/** Bytes that memory may grow by from the third to fifth look to the last three; apps grow by up to 0.8 MB. A page that is kept has 30 kB and more. */
const GROWTH = 2_000_000

/** An app that has served every kind of request holds no more than before. */
export const leaks: Fault = {
  name: 'leaks',
  atOnce: 4,
  async run(subject) {
    const { app } = subject
    const launched = await subject.launch({ env: NEVER_SHED, ...measurable(app) })
    const idle = countFiles(launched)
    const findings = new Set<string>()
    const looks: Footprint[] = []
    while (looks.length < LOOKS && !subject.signal.aborted) {
      await work(subject, launched, findings)
      const open = () => (countFiles(launched) ?? 0) - (idle ?? 0)
      // An app needs a moment to see that clients have left.
      await until('files stay open', () => open() <= 0).catch(() => {})
      if (open() > 0) return [...findings, `${open()} files or sockets stay open when all clients have left.`]
      looks.push(await footprintOf(app, launched))
    }
    return [...findings, ...judgeGrowth(looks), ...judgeLog(launched)]
  },
}

async function work({ app }: Subject, { target }: Launch, findings: Set<string>): Promise<void> {
  const steps = stepsOf(app)
  // NGINX itself refuses these, and logs each as an error.
  const oversized = app.runtime === 'nginx' ? [] : oversizedRequests(LIGHT[app.role])
  const askForEverything = async () => {
    const client = new Client(target)
    for (let round = 0; round < ROUNDS; round++) {
      for (const { right, ...request } of steps) {
        const seen = await client.ask(request)
        if (!right.includes(seen.status ?? 0))
          findings.add(
            `${methodOf(request)} ${request.target} got ${outcomeOf(seen)}, not ${right.join(' or ')}.`,
          )
      }
    }
    client.close()
    // The fault `limits` judges what comes back.
    for (const { request } of oversized) await ask(target, request)
  }
  await Promise.all(Array.from({ length: CLIENTS }, askForEverything))
  const ways = abortsOf(app)
  const leaving = Array.from({ length: LEAVING / ways.length }, () => ways).flat()
  await Promise.all(leaving.map((way) => leave(target, way)))
}

function judgeGrowth(looks: readonly Footprint[]): string[] {
  const findings: string[] = []
  const memory = looks.map((look) => look.memory)
  const growth = middle(memory.slice(-3)) - middle(memory.slice(2, 5))
  if (growth > GROWTH)
    findings.push(
      `Memory grew by ${Math.round(growth / 1_000)} kB within five looks; ${GROWTH / 1_000} are allowed.`,
    )
  const [first, last] = [looks[0], looks.at(-1)]
  if (first?.timers !== undefined && last?.timers !== undefined && last.timers > first.timers)
    findings.push(
      `${last.timers - first.timers} more timers run when all clients have left: rendering goes on.`,
    )
  return findings
}

/** Of three: one look may come amid a lazy compilation, two do not. */
const middle = (values: readonly number[]) => values.toSorted((a, b) => a - b)[1] ?? 0

function judgeLog({ output }: Launch): string[] {
  const isError = (line: string) =>
    /"level":[456]0|\[(?:error|crit|alert|emerg)\]/.test(line) || /^\s+at /.test(line)
  const errors = output().split('\n').filter(isError)
  return errors.length === 0 ? [] : [`It logged ${errors.length} errors, such as: ${errors[0]}`]
}
