import { spawnSync } from 'node:child_process'
import { globSync, readFileSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { APPS, TOPOLOGIES } from '@startgrid/grid/matrix.ts'
import { type Outcome, readJunit } from './junit.ts'

/** `pnpm test`: the tests, the type check and the linter of every package, then the matrix of the grid and the totals. */

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const REPORTS = '{apps/*,packages/*,bench,bench/studies/*/subjects/*,nginx,scripts}/.junit.xml'

function main(args: string[]): number {
  for (const file of globSync(REPORTS, { cwd: ROOT })) rmSync(`${ROOT}${file}`)
  // One package after the other: their tests start servers, and two at once would only wait for each other.
  const turbo = [
    'run',
    'test',
    'typecheck',
    'lint',
    '--concurrency=1',
    '--continue=dependencies-successful',
    '--output-logs=new-only',
  ]
  const { status } = spawnSync('turbo', [...turbo, ...args], {
    cwd: ROOT,
    stdio: 'inherit',
    env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1' },
  })
  const outcomes = globSync(REPORTS, { cwd: ROOT }).flatMap((file) =>
    readJunit(readFileSync(`${ROOT}${file}`, 'utf8')),
  )
  if (outcomes.length === 0) {
    process.stderr.write('No test was run: see above.\n')
    return 1
  }
  process.stdout.write(`\n${formatMatrix(outcomes)}\n${formatTotals(outcomes)}\n`)
  return status === 0 && outcomes.every(({ state }) => state !== 'failed') ? 0 : 1
}

/** App × topology, from the names of the conformance tests. */
function formatMatrix(outcomes: readonly Outcome[]): string {
  const states = new Map(outcomes.map(({ name, state }) => [name, state]))
  const line = (first: string, rest: readonly string[]) =>
    [first.padEnd(20), ...rest.map((text) => text.padEnd(13))].join('').trimEnd()
  const rows = APPS.flatMap(({ name, runtime }) =>
    runtime === 'nginx' ? [`${name} (njs)`, `${name} (qjs)`] : [name],
  )
  const cells = (row: string) => TOPOLOGIES.map((topology) => states.get(`${row} ${topology}`) ?? 'not run')
  return [line('conformance', TOPOLOGIES), ...rows.map((row) => line(row, cells(row))), ''].join('\n')
}

/** Every skipped test with its reason, then the count that CI reads. */
function formatTotals(outcomes: readonly Outcome[]): string {
  const count = (wanted: Outcome['state']) => outcomes.filter(({ state }) => state === wanted).length
  const notPassed = outcomes.filter(({ state }) => state !== 'passed')
  const reasons = notPassed.map(({ name, suite, state, reason }) => {
    const where = suite === '' ? name : `${suite}: ${name}`
    return `${state}: ${where}${reason ? ` (${reason})` : ''}\n`
  })
  return `${reasons.join('')}${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`
}

process.exitCode = main(process.argv.slice(2))
