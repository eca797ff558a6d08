import { parseArgs } from 'node:util'
import { readModel } from './model.ts'
import { type Findings, type MetricFindings, runStudy, STUDIES, type StudyName } from './study.ts'

/**
 * Whether the analysis keeps its promise, at each profile's own number of heats: 95 % intervals hold the truth 93.5 to 96.5 % of the
 * time, and twins differ at p < 0.05 in 3.5 to 6.5 % of races.
 *
 *   node bench/simulation/coverage.ts [--runs 2000] [--profile NAME]… [--seed N]
 *
 * Exits with 1 where it does not.
 */

const ALLOWED = 0.015

function main(): void {
  const { values } = parseArgs({
    options: {
      runs: { type: 'string', default: '2000' },
      profile: { type: 'string', multiple: true, default: [...STUDIES] },
      seed: { type: 'string', default: '1' },
    },
  })
  const model = readModel()
  const runs = Number(values.runs)
  let broken = 0
  for (const name of STUDIES.filter((study) => values.profile.includes(study))) {
    const onRun = (run: number) => {
      if (run % 20 === 0 || run === runs) showProgress(`${name}: ${run} of ${runs} runs`)
    }
    const findings = runStudy(name, { model, runs, seed: Number(values.seed), onRun })
    showProgress('')
    broken += printFindings(name, runs, findings)
  }
  if (broken > 0) console.log(`${broken} figures (marked !) are outside the promise.`)
  process.exitCode = broken > 0 ? 1 : 0
}

function showProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`)
}

/** @returns how many figures break the promise */
function printFindings(name: StudyName, runs: number, findings: Findings): number {
  const mean = findings.heats.reduce((sum, count) => sum + count, 0) / findings.heats.length
  console.log(`${name}: ${runs} runs of ${mean.toFixed(1)} heats`)
  console.log('                                  rate                    CPU per request')
  console.log(
    '                                  covered  half-width     covered  half-width (median, 90th percentile)',
  )
  let broken = 0
  const check = (value: number, promised: number | null): string => {
    const kept = promised === null || Math.abs(value - promised) <= ALLOWED
    if (!kept) broken += 1
    return `${(100 * value).toFixed(1).padStart(5)} %${kept ? ' ' : '!'}`
  }
  const both = (label: string, show: (of: MetricFindings) => string) =>
    console.log(
      `  ${label.padEnd(32)}${[findings.rate, findings.cpu].map((of) => show(of).padEnd(24)).join('')}`,
    )
  const intervals = (
    label: string,
    of: (metric: MetricFindings) => MetricFindings['ratios'],
    promised: number | null,
  ) =>
    both(label, (metric) => {
      const tally = of(metric)
      const [median, high] = [0.5, 0.9].map((part) => `${(100 * tally.halfWidth(part)).toFixed(1)} %`)
      return `${check(tally.coverage, promised)} ${median?.padStart(6)} ${high?.padStart(7)}`
    })
  intervals('ratios to the baseline', ({ ratios }) => ratios, 0.95)
  intervals('all pairs', ({ pairs }) => pairs, 0.95)
  intervals('NGINX over direct', ({ proxyCosts }) => proxyCosts, 0.95)
  intervals('twin over original', ({ twins }) => twins, 0.95)
  intervals('means of cells', ({ means }) => means, null)
  both('twins differ at p < 0.05', ({ falseDifferences }) => check(falseDifferences.part, 0.05))
  both('runs suspect at p < 0.005', ({ suspects }) => check(suspects.part, null))
  both('a false rank among equals', ({ falseRanks }) => check(falseRanks.part, null))
  console.log(
    `  for comparison, rate: percentile bootstrap over launches covers ${check(findings.bootstrap.coverage, null)},`,
  )
  console.log(`  slices as replicates ${check(findings.slices.coverage, null)}\n`)
  return broken
}

main()
