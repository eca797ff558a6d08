import { flag, helpOf, integer, readCommandLine, texts } from '@startgrid/cli/options.ts'
import { studyRaces } from './race.ts'
import { SCENARIOS } from './scenarios.ts'
import { type MetricScore, quantile, type Score } from './score.ts'
import { study } from './study.ts'

const DEFAULTS = ['noisy', 'quiet', 'noisy-outliers', 'quiet-outliers']

const OPTIONS = {
  scenario: texts(
    'NAME',
    `may be repeated (default ${DEFAULTS.join(', ')}): ${Object.keys(SCENARIOS).join(', ')}`,
  ),
  runs: integer('of each scenario', { min: 1, max: 1e6, default: 100 }),
  seed: integer('repeats the draws', { min: 1, max: 2 ** 31, default: 1 }),
  heats: integer('per role (default 3); with --race without looks', { min: 1, max: 100 }),
  race: flag('two commands instead of the grid: equal ones, and one that costs 3 to 20 % more'),
  help: flag('this text'),
}

const HELP = `Simulates whole runs of the benchmark on machines of known noise, and counts
how often it is right.

  node bench/simulation/simulate.ts [options]

${helpOf(OPTIONS)}

It exits with 1 if a figure is outside of what is promised. 1,000 runs are
needed to tell.
`

/** From and to, as parts of 1. */
type Range = readonly [number, number]

/** What is promised, where loadings are 0. */
const PROMISED = {
  races: [0.94, 0.98],
  coverage: [0.935, 0.965],
  twins: [0.035, 0.065],
  falseRaces: [0, 0.05],
} as const

/** Intervals that are wider because of outlying launches may hold the truth more often. */
const OUTLIERS_COVERAGE: Range = [0.92, 1]
const ANY: Range = [0, 1]

/** The median half-width of a run of 3 heats. */
const WIDTHS: Readonly<Record<string, number>> = { noisy: 0.16, quiet: 0.095 }

async function main(argv: readonly string[]): Promise<number> {
  const { values } = readCommandLine(argv, OPTIONS, 'node bench/simulation/simulate.ts')
  if (values.help) {
    console.log(HELP)
    return 0
  }
  const { runs, seed, race, heats = null } = values
  let broken = 0
  for (const name of values.scenario.length === 0 ? DEFAULTS : values.scenario) {
    const options = { runs, seed, heats: heats ?? 3 }
    if (race) broken += await printRaces(name, { runs, seed, heats })
    else broken += print(name, await study(name, options), options)
  }
  if (broken > 0) console.log(`${broken} figures (marked with !) are outside of what is promised.`)
  return broken > 0 ? 1 : 0
}

/** More CPU per request. */
const PLANTED = [0, 0.03, 0.05, 0.1, 0.2]

/** @returns how many figures are outside of what is promised */
async function printRaces(
  name: string,
  options: { runs: number; seed: number; heats: number | null },
): Promise<number> {
  let broken = 0
  console.log(
    `\n${name}, ${options.runs} races of two commands for each row: cost planted, intervals that hold the truth (of those that stopped early), ` +
      'differences shown, shown to be as fast, half-width, difference said where one is shown, starts (mean, most)',
  )
  for (const [index, planted] of PLANTED.entries()) {
    const seed = options.seed * PLANTED.length + index
    const { coverage, early, ...score } = await studyRaces(name, { ...options, seed, factor: 1 + planted })
    const [low, high] = PROMISED.races
    const isKept = coverage.part >= low && coverage.part <= high
    if (!isKept) broken += 1
    const figures = [early.part, score.shown.part, score.alike.part, score.halfWidth, score.said]
    const starts = [score.starts[0].toFixed(1), score.starts[1]].join(', ')
    console.log(
      `  ${[planted, coverage.part].map(inPercent).join('  ')}${isKept ? '' : '!'}  ${figures.map(inPercent).join('  ')}  ${starts}`,
    )
  }
  return broken
}

/** @returns how many figures are outside of what is promised */
function print(name: string, score: Score, { runs, heats }: { runs: number; heats: number }): number {
  let broken = 0
  const check = (part: number, [low, high]: Range): string => {
    const kept = Number.isNaN(part) || (part >= low && part <= high)
    if (!kept) broken += 1
    return `${inPercent(part)}${kept ? ' ' : '!'}`
  }
  const both = (label: string, show: (of: MetricScore) => string) =>
    console.log(`  ${label.padEnd(48)}${show(score.metrics.rate).padEnd(12)}${show(score.metrics.cpu)}`)
  const one = (label: string, text: string) => console.log(`  ${label.padEnd(48)}${text}`)
  const scenario = SCENARIOS[name]
  const isPlain = scenario?.cold === null && scenario.loadings === 0
  const coverage = scenario?.outliers === null ? PROMISED.coverage : OUTLIERS_COVERAGE
  const width = heats === 3 ? (WIDTHS[name] ?? 1) : 1
  const of = <Given>(value: Given, otherwise: Given) => (isPlain ? value : otherwise)

  console.log(`\n${name}, ${runs} runs of ${heats} heats: rate, CPU per request`)
  both('ratios hold the truth', (metric) => check(metric.coverage.part, of<Range>(coverage, ANY)))
  if (scenario?.loadings !== 0)
    both('ratios hold the truth of a free core', ({ coverageFree }) => inPercent(coverageFree.part))
  both('pairs hold the truth', ({ pairs }) => check(pairs.even.part, of<Range>(coverage, ANY)))
  both('pairs with the one that varies more', ({ pairs }) =>
    check(pairs.uneven.part, of<Range>(coverage, ANY)),
  )
  both('half-width, median', ({ halfWidth }) => check(halfWidth, [0, width]))
  both('twins differ at p < 0.05', ({ twins }) =>
    check(twins.part, of<Range>(scenario?.outliers === null ? PROMISED.twins : [0, 0.065], ANY)),
  )
  both('races of equal apps with a false difference', ({ falseRaces }) =>
    check(falseRaces.part, PROMISED.falseRaces),
  )
  both('pairs of unequal apps that are decided', ({ decided }) => inPercent(decided.part))
  both('of all pairs, decided the wrong way round', ({ wrong }) => inPercent(wrong.part))
  one('cells without a number', inPercent(score.voided.part))
  one(
    'seconds of a run, median and longest',
    [0.5, 1].map((part) => quantile(score.seconds, part).toFixed(0)).join(', '),
  )
  return broken
}

function inPercent(part: number): string {
  return Number.isNaN(part) ? '–' : `${(100 * part).toFixed(1)} %`
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
