import { deepEqual, equal, notDeepEqual, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { sample } from '@startgrid/cli/test-run.ts'
import { Guard } from '@startgrid/machine/guard.ts'
import { isProbe, type ProbeContext } from '../../src/model/experiment.ts'
import type { Detected } from '../../src/model/heat.ts'
import { instruments, plantedIn } from '../../studies/instruments/study.ts'
import { autocannonTwice, compareJs, race, type Tool, wrkTwice } from '../../studies/instruments/tools.ts'
import { lackOf } from '../../studies/lack.ts'

const skip = lackOf('wrk') ?? false

/** So much work that no noise hides it. */
const server = (rounds: number) =>
  `'${process.execPath}' bench/studies/instruments/subjects/loop/src/server.ts ${rounds}`

const TOOLS: readonly [tool: Tool, rules: string[]][] = [
  [race, ['p < 0.05']],
  [compareJs, ['a star (p < 0.05)']],
  [wrkTwice, ['more than 2 % apart', 'more than 5 % apart']],
  [autocannonTwice, ['a winner (5 %)', 'a star at requests']],
]

for (const [tool, rules] of sample('tools', TOOLS, 2))
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
      // autocannon-compare's own test has few seconds to go by, and may see nothing where the ratio's interval, to the first order, does.
      for (const { shown, low } of said.rules)
        ok(low === null ? !shown : tool === autocannonTwice || shown === low > 1)
    } finally {
      await guard.close()
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
