import { plural } from '@startgrid/cli/text.ts'
import { APPS, TOPOLOGIES } from '@startgrid/grid/apps.ts'
import type { Outcome } from './junit.ts'

/** App × topology, from the names of the conformance tests. */
export function formatConformance(outcomes: readonly Outcome[]): string {
  const states = new Map(outcomes.map(({ name, state }) => [name, state]))
  const line = (first: string, rest: readonly string[]) =>
    [first.padEnd(20), ...rest.map((word) => word.padEnd(13))].join('').trimEnd()
  const rows = APPS.flatMap(({ name, runtime }) =>
    runtime === 'nginx' ? [`${name} (njs)`, `${name} (qjs)`] : [name],
  )
  const cells = (row: string) => TOPOLOGIES.map((topology) => states.get(`${row} ${topology}`) ?? '·')
  const lines = rows.map((row) => line(row, cells(row)))
  const hasGaps = lines.some((text) => text.includes('·'))
  const meaning = hasGaps ? ['· is not in the sample of this run: pnpm test --full tries all.'] : []
  return [line('conformance', TOPOLOGIES), ...lines, ...meaning, ''].join('\n')
}

/** Reasons of different packages with the same cause, and the one command that helps. */
const CAUSES: readonly [reason: RegExp, cause: string][] = [
  [
    /no Docker engine responds|Cannot connect to the Docker daemon/i,
    'Docker is not running. Start it, then run pnpm test again.',
  ],
  [/no docker command/i, 'Docker is not installed: https://docs.docker.com/engine/install'],
  [/Docker has no image (?!.*\bNGINX was found)/i, 'Docker lacks an image: docker pull nginx:1.30'],
  [/no NGINX was found/i, 'There is no NGINX: sudo apt-get install nginx libnginx-mod-http-js'],
  [/no Chromium/i, 'There is no Chromium: sudo apt-get install chromium'],
  [/\bwrk\b.*(?:not installed|ENOENT|cannot)/i, 'wrk is not installed: sudo apt-get install wrk'],
]

function causeOf({ name, reason }: Outcome): string {
  const [, cause] = CAUSES.find(([pattern]) => pattern.test(reason)) ?? []
  return cause ?? (reason || `no reason is given for '${name}'`)
}

/**
 * What did not pass, and as the last line the counts: `163 passed, 0 failed, 3 skipped`. Skipped tests are told once per reason, with the command that helps.
 * @param failedJobs what ended with a failure, though perhaps without a failed test
 */
export function formatOutcomes(outcomes: readonly Outcome[], failedJobs: readonly string[] = []): string {
  const of = (wanted: Outcome['state']) => outcomes.filter(({ state }) => state === wanted)
  const describe = ({ name, suite, reason }: Outcome) =>
    `${suite === '' ? name : `${suite}: ${name}`}${reason ? ` (${reason})` : ''}`
  const flaky = of('flaky').map((outcome) => `flaky, passed when run again alone: ${describe(outcome)}`)
  const failed = of('failed').map((outcome) => `failed: ${describe(outcome)}`)
  const skipped = [...Map.groupBy(of('skipped'), causeOf)].map(
    ([cause, tests]) => `${plural(tests.length, 'test')} skipped: ${cause}`,
  )
  const jobs = failedJobs.length > 0 ? [`failed: ${failedJobs.join(', ')}`] : []
  const passed = [...of('passed'), ...of('flaky')].filter(({ isFile }) => !isFile).length
  // What failed without a failed test counts too: the last line may be all that somebody reads.
  const failures = failed.length || failedJobs.length
  const counts = `${passed} passed, ${failures} failed, ${of('skipped').length} skipped`
  return [...skipped, ...flaky, ...failed, ...jobs, counts].join('\n')
}
