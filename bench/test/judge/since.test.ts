import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { ForeseenError } from '@startgrid/cli/arguments.ts'
import { sum } from '@startgrid/stats/moments.ts'
import { createRandom } from '@startgrid/stats/random.ts'
import { createDraw } from '../../simulation/machine.ts'
import { bisect } from '../../src/cli/commands/bisect.ts'
import { startsOf } from '../../src/judge/since.ts'
import { TimeError } from '../../src/measure/proof.ts'
import { formatHtml } from '../../src/report/html/page.ts'
import { formatMarkdown } from '../../src/report/markdown.ts'
import { documentOf } from '../../src/report/report.ts'
import type { Commit, Start } from '../../src/result/figures.ts'
import type { Result } from '../../src/result/result.ts'
import { amongCommands, analysed, golden } from '../fixtures/golden.ts'

/** Histories whose truth is known, searched as `--bisect` does; only the races are simulated, with the noise of a pair of starts. */
interface History {
  count?: number
  /** By commit, the speed as a part of what it was before. */
  steps: Readonly<Record<number, number>>
  sd?: number
  seed?: number
  /** Commits that cannot be raced, and commits that die under load. */
  broken?: readonly number[]
  dying?: readonly number[]
  /** What a merge has brought: how many commits, and which of them made the difference. */
  merge?: { at: number; count: number; culprit: number }
  /** Ctrl-C in this race. */
  abortIn?: number
  /** There is not time enough for this race. */
  lateIn?: number
  endsAt?: number
}

const hashOf = (index: number) => `c${String(index).padStart(3, '0')}`
const commit = (hash: string): Commit => {
  return { hash, title: `Change ${hash}`, date: '2026-11-28T10:00:00Z', starts: [] }
}

async function search(history: History) {
  const { count = 64, steps, sd = 0.0475, seed = 1, broken = [], dying = [], merge } = history
  const draw = createDraw(createRandom(seed))
  const commits = Array.from({ length: count }, (_, index) => commit(hashOf(index)))
  const result = { ...structuredClone(ends), search: commits }
  const abortion = new AbortController()
  const said: string[] = []
  const speedAt = (index: number) =>
    sum(Object.entries(steps).map(([step, part]) => (index >= Number(step) ? Math.log(part) : 0)))
  const inside = Array.from({ length: merge?.count ?? 0 }, (_, index) => commit(`m${index}`))
  const noise = () => (sd / Math.SQRT2) * draw.normal()
  let races = 0
  await bisect({
    result,
    signal: abortion.signal,
    endsAt: history.endsAt ?? Number.POSITIVE_INFINITY,
    say: (text) => said.push(text),
    save: () => {},
    branchOf: (hash) => (hash === hashOf(merge?.at ?? -1) ? inside : []),
    raceCommit: async ({ hash }, follow) => {
      races += 1
      const index = Number(hash.slice(1))
      if (races === history.lateIn) throw new TimeError('Only 2 starts fit.')
      if (broken.includes(index)) throw new ForeseenError(`The build of ${hash} fails.`)
      if (dying.includes(index)) return 'it ended with exit code 3'
      const isOfMerge = hash.startsWith('m')
      const own = speedAt(isOfMerge ? (index >= (merge?.culprit ?? 0) ? count : -1) : index)
      const starts: Start[] = []
      while (starts.length < 20 && !(starts.length >= 3 && follow(starts)) && races !== history.abortIn)
        starts.push([noise(), own + noise(), speedAt(count) + noise()])
      follow(starts)
      if (races === history.abortIn) abortion.abort()
      return undefined
    },
  })
  const since = result.analysis?.since
  return { result, since, sets: since?.steps.map(({ set }) => set) ?? [], races, said: said.join('\n') }
}

/** Both ends, of which a difference is shown. */
const ends = raced(['before', 'after'])

function raced(systems: string[]): Result {
  const result = golden('commands')
  amongCommands(result, systems)
  return analysed(result)
}

const RUNS = 20

for (const [name, step, sd] of [
  ['quiet', 0.95, 0.0475],
  ['noisy', 0.9, 0.078],
] as const)
  test(`on a ${name} machine a step is named wherever it is`, async () => {
    const found = []
    for (let seed = 0; seed < RUNS; seed++) {
      const culprit = (seed * 29) % 64
      const { sets, races } = await search({ steps: { [culprit]: step }, sd, seed })
      const isHeld = sets.length === 1 && sets[0]?.includes(hashOf(culprit))
      found.push({ isHeld, size: sets[0]?.length, races })
    }
    const held = found.filter(({ isHeld }) => isHeld).length
    // 93 % are promised; so few differ by four standard errors at most.
    ok(held >= RUNS * (0.93 - 4 * Math.sqrt((0.93 * 0.07) / RUNS)), `${held} of ${RUNS}`)
    ok(found.filter(({ size }) => size === 1).length > RUNS / 2)
    ok(Math.min(...found.map(({ races }) => races)) >= 5, 'six halvings tell 64 commits apart')
  })

test('two steps are both named, or it is said that there is more than one', async () => {
  const found = []
  for (let seed = 0; seed < RUNS; seed++) {
    const [one = 0, other = 0] = [(seed * 29) % 64, (seed * 17 + 5) % 64].sort((a, b) => a - b)
    if (other - one > 3) found.push(await search({ steps: { [one]: 0.94, [other]: 0.96 }, seed }))
  }
  const told = found.filter(
    ({ sets, result }) => sets.length === 2 || /more than one step/.test(documentOf(result).summary.join()),
  )
  ok(told.length >= 0.75 * found.length, `${told.length} of ${found.length}`)
  const two = await search({ steps: { 10: 1.08, 40: 0.8 } })
  match(
    documentOf(two.result).finding,
    /^In two steps: since c010 "Change c010" \(.*\): it added [\d.]+ % .* to the .*; since c040 .* it took [\d.]+ % /,
  )
})

test('a commit that cannot be raced is skipped, named, and part of the set', async () => {
  const { sets, result, said } = await search({ steps: { 20: 0.8 }, broken: [19, 20], dying: [21, 31] })
  equal(sets.map((set) => set.toSorted()).join(';'), 'c019,c020,c021,c022')
  match(said, /^ {2}c031 {2}Change c031: skipped \(it ended with exit code 3\)$/m)
  const { finding, summary } = documentOf(result)
  match(finding, /^Since one of 4 commits, .*c020 "Change c020" \(25 %, not raced\)/)
  match(summary.join('\n'), /^c020 "Change c020" was skipped: The build of c020 fails\.$/m)
})

test('a merge that made the difference is looked into', async () => {
  const merge = { at: 7, count: 12, culprit: 4 }
  const { sets, since } = await search({ count: 20, steps: { 7: 0.85 }, merge })
  deepEqual(sets, [['m4']])
  equal(since?.commits.length, 32)
})

test('Ctrl-C and the end of the time give the same sentence, of what is left', async () => {
  const interrupted = await search({ steps: { 40: 0.85 }, abortIn: 4 })
  const [set = []] = interrupted.sets
  ok(set.includes(hashOf(40)) && set.length > 1 && set.length < 16, `${set}`)
  match(documentOf(interrupted.result).finding, /^Since one of \d+ commits, /)
  equal(interrupted.result.finishedAt, null)
  const short = await search({ steps: { 40: 0.85 }, lateIn: 3 })
  equal(short.races, 3)
  ok(short.result.search.every(({ skipped }) => skipped === undefined))
  const late = await search({ steps: { 40: 0.85 }, endsAt: performance.now() + 1000 })
  equal(late.races, 0)
  match(documentOf(late.result).finding, /^after handles /)
})

test('without a difference there is nothing to look for', async () => {
  const result = raced(['before', 'before itself'])
  await bisect({ ...none, result })
  equal(result.analysis?.since, undefined)
  match(result.warnings.map(({ text }) => text).join(), /No difference between before and before itself is /)
  const widthOf = ({ analysis }: Result) => {
    const { low = null, high = null } = analysis?.findings[0]?.ratio ?? {}
    return (high ?? 0) - (low ?? 0)
  }
  ok(
    widthOf(analysed({ ...ends, search: [] })) > 1.1 * widthOf(ends),
    'a false alarm costs a search, so it is half as probable',
  )
})

const none: Omit<Parameters<typeof bisect>[0], 'result'> = {
  signal: new AbortController().signal,
  endsAt: Number.POSITIVE_INFINITY,
  say: () => {},
  save: () => {},
  branchOf: () => [],
  raceCommit: () => Promise.reject(new Error('nothing is to be raced')),
}

test('reports have a row per commit, with its speed and how probable it is; starts are those of a race of three', async () => {
  const { result } = await search({ count: 30, steps: { 12: 0.85 } })
  const document = documentOf(result)
  const [before = ''] = document.summary
  match(
    document.finding,
    /^Since c012 "Change c012" \((?:9\d|>99) %\): it took 1\d\.\d % \([\d.]+–[\d.]+\) of /,
  )
  match(
    before,
    /^Before it, commits up to c011 are between \d\.\d % slower and \d\.\d % faster than before\.$/,
  )
  match(formatMarkdown(document), /^\| \*\*c012\*\* +\| Change c012 .*\| +(?:9\d|\\>99) % \|$/m)
  match(formatHtml(document), /aria-label="Speed\. .*c012 (?:9\d|&gt;99) % 0\.8\d \(/)
  const own = startsOf(golden('commands'))
  equal(own.length, golden('commands').heats.length)
  ok(own.every((start) => start.length === 3 && start.every((log) => log > 0)))
})
