import { createRandom, type Random } from '@startgrid/stats/random.ts'
import { analyse, isWithin, type Measured } from '../src/judge/analysis.ts'
import { judgeOurs } from '../src/judge/gates/interference.ts'
import type { Analysis, Metric } from '../src/model/figures.ts'
import type { Heat } from '../src/model/result.ts'
import { PROFILES } from '../src/plan/profiles.ts'
import type { Model } from './model.ts'
import { percentileBootstrap, slicesAsReplicates } from './naive.ts'
import { createSession, type Session } from './session.ts'
import { Share, Tally } from './tally.ts'

/** Many sessions of one profile are simulated and analysed; what the analysis says is compared with what is true. */

export const STUDIES = ['quick', 'default', 'thorough', 'until'] as const
export type StudyName = (typeof STUDIES)[number]

/** As `pnpm bench` runs it. */
interface Plan {
  apps: number
  slices: number
  sliceMs: number
  leastHeats: number
  mostHeats: number
  /** The half-width at which it stops. */
  until: number | null
}

const PLANS: Readonly<Record<StudyName, Plan>> = {
  quick: planOf('quick'),
  default: planOf('default'),
  thorough: planOf('thorough'),
  // An hour at the most, as `--max-time` has it.
  until: { ...planOf('default'), leastHeats: 6, mostHeats: 24, until: 0.03 },
}

function planOf(name: 'quick' | 'default' | 'thorough'): Plan {
  const { frameworks, heats, slices, sliceMs } = PROFILES[name]
  return { apps: frameworks.length, slices, sliceMs, leastHeats: heats, mostHeats: heats, until: null }
}

/** What is counted of one metric. */
export class MetricFindings {
  /** Against the baseline. */
  readonly ratios = new Tally()
  readonly pairs = new Tally()
  readonly proxyCosts = new Tally()
  readonly means = new Tally()
  readonly twins = new Tally()
  /** p < 0.05 between twins. */
  readonly falseDifferences = new Share()
  readonly suspects = new Share()
  /** Races of equals in which anybody got another place than a tie with all. */
  readonly falseRanks = new Share()
}

export class Findings {
  readonly rate = new MetricFindings()
  readonly cpu = new MetricFindings()
  readonly bootstrap = new Tally()
  readonly slices = new Tally()
  readonly heats: number[] = []
}

export interface StudyOptions {
  model: Model
  runs: number
  seed: number
  onRun?: (run: number) => void
}

export function runStudy(name: StudyName, { model, runs, seed, onRun = () => {} }: StudyOptions): Findings {
  const findings = new Findings()
  const plan = PLANS[name]
  const random = createRandom(seed)
  for (let run = 0; run < runs; run++) {
    // In every second session all apps are equal, so that each rank is a false one.
    const alike = run % 2 === 1
    const session = createSession({ ...plan, model, alike, random })
    const { heats, analysis } = runSession(session, plan)
    findings.heats.push(heats.length)
    for (const metric of ['rate', 'cpu'] as const)
      count(findings[metric], { session, analysis, metric, alike })
    countNaive(findings, { session, heats, random })
    onRun(run + 1)
  }
  return findings
}

function runSession(
  session: Session,
  { leastHeats, mostHeats, until }: Plan,
): { heats: Heat[]; analysis: Analysis } {
  const heats = Array.from({ length: leastHeats }, () => session.nextHeat())
  let analysis = analyseSession(session, heats)
  while (until !== null && heats.length < mostHeats && !isWithin(analysis, until)) {
    heats.push(session.nextHeat())
    analysis = analyseSession(session, heats)
  }
  return { heats, analysis }
}

const SURROUNDINGS: Omit<Measured, 'cells' | 'heats'> = {
  mode: 'native',
  conformance: [],
  driver: { name: 'startgrid', version: '', ceiling: null },
  settings: {
    profile: 'custom',
    heats: 0,
    slices: 0,
    sliceMs: 0,
    pauseMs: 0,
    until: null,
    maxTimeMs: null,
    cores: null,
    p99Ms: null,
  },
}

/** Of the gates, only the one that neighbours can fail is there to be passed. */
function analyseSession({ cells }: Session, heats: Heat[]): Analysis {
  return analyse({ ...SURROUNDINGS, cells, heats }, { judge: (evidence) => [judgeOurs(evidence)] })
}

interface Outcome {
  session: Session
  analysis: Analysis
  metric: Metric
  alike: boolean
}

function count(findings: MetricFindings, { session, analysis, metric, alike }: Outcome): void {
  const truth = (a: string, b: string) => Math.exp(session.truth(a, metric) - session.truth(b, metric))
  for (const race of analysis.races) {
    if (race.metric !== metric) continue
    for (const { cell, ratio } of race.ratios)
      if (cell !== race.baseline) findings.ratios.add(ratio, truth(cell, race.baseline))
    for (const { a, b, ratio } of race.pairs) findings.pairs.add(ratio, truth(a, b))
    if (alike) findings.falseRanks.add(race.ranks.some(({ from, to }) => from > 1 || to < race.ranks.length))
    const { control } = race
    if (control === null || control.p === null) continue
    findings.twins.add(control.ratio, 1)
    findings.falseDifferences.add(control.p < 0.05)
    findings.suspects.add(control.suspect)
  }
  for (const { app, topology, metric: own, ratio } of analysis.proxyCosts)
    if (own === metric) findings.proxyCosts.add(ratio, truth(`${app} ${topology}`, `${app} direct`))
  for (const figures of analysis.cells) {
    const mean = figures[metric]
    if (mean !== null)
      findings.means.add(mean, session.scale(metric) * Math.exp(session.truth(figures.cell, metric)))
  }
}

function countNaive(
  { bootstrap, slices }: Findings,
  { session, heats, random }: { session: Session; heats: Heat[]; random: Random },
): void {
  const [baseline, ...others] = session.cells.filter(
    ({ topology, twinOf }) => topology === 'direct' && twinOf === null,
  )
  for (const { id } of others) {
    if (baseline === undefined) continue
    const truth = Math.exp(session.truth(id, 'rate') - session.truth(baseline.id, 'rate'))
    const ratios = [
      [bootstrap, percentileBootstrap(heats, [id, baseline.id], random)],
      [slices, slicesAsReplicates(heats, id, baseline.id)],
    ] as const
    for (const [tally, ratio] of ratios) if (ratio !== null) tally.add(ratio, truth)
  }
}
