import { deepEqual, equal, notDeepEqual, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { isDue, sample } from '@startgrid/cli/test-run.ts'
import { Guard } from '@startgrid/machine/guard.ts'
import { isProbe, type ProbeContext } from '../../src/model/experiment.ts'
import type { Detected } from '../../src/model/heat.ts'
import { instruments, plantedIn } from '../../studies/instruments/study.ts'
import {
  autocannonTwice,
  compareJs,
  race,
  readRates,
  readRuns,
  type Tool,
  wrkTwice,
} from '../../studies/instruments/tools.ts'
import { lackOf } from '../../studies/lack.ts'

const skip = lackOf('wrk') ?? false

/** So much work that no noise hides it. */
const server = (rounds: number) =>
  `'${process.execPath}' bench/studies/instruments/subjects/loop/src/server.ts ${rounds}`

type Expected = [tool: Tool, rules: string[]]

const RACE: Expected = [race, ['p < 0.05']]

const TOOLS: readonly Expected[] = [
  [compareJs, ['a star (p < 0.05)']],
  [wrkTwice, ['more than 2 % apart', 'more than 5 % apart']],
  [autocannonTwice, ['a winner (5 %)', 'a star at requests']],
]

for (const [tool, rules] of [
  ...(isDue('long race', 4, { turn: 3 }) ? [RACE] : []),
  ...sample('tools', TOOLS, 1),
])
  test(`${tool.name} says that a server with ten times the work costs more`, {
    skip,
    timeout: 120_000,
  }, async () => {
    const guard = new Guard()
    const { signal } = new AbortController()
    const commands = [server(20_000), server(200_000)] as const
    try {
      const said = await tool({ commands, guard, signal, cores: undefined, timeMs: 6000 })
      ok((said.estimate ?? 0) > 1.5, String(said.estimate))
      deepEqual(
        said.rules.map(({ rule }) => rule),
        rules,
      )
      for (const { shown, low } of said.rules) ok(low !== null || !shown)
    } finally {
      await guard.close()
    }
  })

/** A tool shows what its interval excludes; here without a machine that could disturb it. */
for (const [what, factor, isShown] of [
  ['equal servers', 1, false],
  ['a server that is slower by a tenth', 1.1, true],
] as const)
  test(`${what}: compare.js and autocannon-compare show it as their intervals do`, () => {
    const rates = [0.98, 1.02, 1, 0.99, 1.01].map((one) => 50_000 * one)
    const runOf = (mean: number) => ({
      ...{ errors: 0, non2xx: 0, duration: 10 },
      requests: { mean, stddev: 0.02 * mean, total: 10 * mean },
      throughput: { mean: 200 * mean, stddev: 4 * mean, total: 2000 * mean },
      latency: { mean: 1, stddev: 1, total: 10 * mean },
    })
    const byRates = readRates([rates, rates.map((one) => one / factor)])
    const byRuns = readRuns(runOf(50_000), runOf(50_000 / factor))
    for (const { estimate, rules } of [byRates, byRuns]) {
      ok(Math.abs((estimate ?? 0) - factor) < 1e-9)
      for (const { shown, low, high } of rules) {
        equal(shown, isShown)
        equal((low ?? 0) > 1 || (high ?? 2) < 1, isShown)
      }
    }
  })

test('an interruption is no result of a tool', { skip, timeout: 60_000 }, async () => {
  const quiet = instruments.races.quiet
  ok(quiet && isProbe(quiet))
  const end = new AbortController()
  const told: Detected[] = []
  const context: ProbeContext = {
    ...{ heat: 1, quick: true, signal: end.signal, onForeign: () => {} },
    onDetected: (one) => told.push(one),
  }
  end.abort()
  await rejects(async () => quiet.probe('wrk', context), { name: 'AbortError' })
  equal(told.length, 0)
})

test('six heats plant each difference once, and the next six in another order', () => {
  const [first, second] = [0, 6].map((before) => [1, 2, 3, 4, 5, 6].map((heat) => plantedIn(before + heat)))
  deepEqual(first?.toSorted(), second?.toSorted())
  equal(new Set(first).size, 6)
  notDeepEqual(first, second)
})
