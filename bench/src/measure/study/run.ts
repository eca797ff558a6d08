import { formatMinutes } from '@startgrid/cli/duration.ts'
import type { Progress } from '@startgrid/cli/progress.ts'
import { oneLine, plural } from '@startgrid/cli/text.ts'
import { chooseCores } from '@startgrid/machine/cores.ts'
import { readCpus } from '@startgrid/machine/cpus.ts'
import { inspectMachine, watchSteal } from '@startgrid/machine/state.ts'
import type { Nginx } from '@startgrid/nginx/find.ts'
import { measureCeiling, startNginxCeiling } from '../../drivers/ceiling.ts'
import { versionOf } from '../../environments/proxy.ts'
import { proveSystems } from '../../environments/study/conformance.ts'
import { assignNginxes, equipStudy, findNginxes } from '../../environments/study/nginxes.ts'
import { analyseStudy } from '../../judge/study/analysis.ts'
import { openRateOf } from '../../judge/study/open-figures.ts'
import type { Study } from '../../model/study.ts'
import type { StudyCell, StudyCores, StudyResult, StudySettings } from '../../model/study-result.ts'
import { describeWarning, type Warning } from '../../model/warnings.ts'
import { Generators } from './generators.ts'
import { expectedRaceMs, runStudyHeat } from './heat.ts'
import { cellsOf, expectedStudyMs, fitToMachine, type PlannedHeat, planHeats } from './plan.ts'
import { runPublished } from './published.ts'

export interface StudySurroundings {
  progress: Progress
  /** Called with the result so far after every heat. */
  save(result: StudyResult): void
  /** An abort stops all servers; whole heats that were measured are in the result. */
  signal: AbortSignal
  download: boolean
}

/**
 * Measures what a result lacks: all heats of a new one, the remaining ones of an interrupted one. It is filled in place.
 * @throws {LoadError} with a sentence, if no load can be offered
 */
export async function runStudy(study: Study, result: StudyResult, context: StudySurroundings): Promise<void> {
  // Of several studies all were planned when the first one began.
  if (result.heats.length === 0) result.startedAt = new Date().toISOString()
  const warn = warnInto(result, context.progress)
  result.settings.cores = studyCores(warn)
  fitToMachine(result.cells, result.settings.cores?.servers.length ?? null)
  const generators = await Generators.start(result.settings.cores?.generator)
  result.driver.version = generators.own.version
  const steal = watchSteal()
  const beganAt = performance.now()
  const { signal } = context
  try {
    for (const warning of await inspectMachine(signal)) warn(warning)
    const nginxes = await findNginxes(study, context)
    const nginx = nginxes.usual
    assignNginxes(study, result.cells, nginxes)
    adoptNginx(result, nginx, warn)
    const equipped = equipStudy(study, nginxes)
    await measureAll({ study: equipped, result, nginx, generators, context, warn })
    for (const warning of steal((performance.now() - beganAt) / 1000)) warn(warning)
    if (!signal.aborted) result.finishedAt = new Date().toISOString()
  } finally {
    await generators.stop()
    store(study, result, context)
  }
}

/** What a resumed run finds changed is told. */
function adoptNginx(result: StudyResult, nginx: Nginx | undefined, warn: (warning: Warning) => void): void {
  const [before, now] = [result.nginx, nginx === undefined ? null : versionOf(nginx)]
  if (before !== null && now !== null && before.version !== now.version)
    warn({ kind: 'other-versions', name: 'NGINX', before: before.version, now: now.version })
  result.nginx = now
}

/** Each warning is told once. */
function warnInto({ warnings }: StudyResult, progress: Progress): (warning: Warning) => void {
  return (warning) => {
    const text = describeWarning(warning)
    if (warnings.some((one) => describeWarning(one) === text)) return
    warnings.push(warning)
    progress.say(text)
  }
}

/** The contract, the generator's ceiling, all heats, and the source's own tools if they are asked for. */
async function measureAll(prepared: PreparedRun): Promise<void> {
  const { study, result, nginx, generators, context, warn } = prepared
  const { signal, progress } = context
  await prove(prepared)
  const cpu = result.settings.cores?.servers[0]
  if (nginx !== undefined && !signal.aborted) {
    const bench = { driver: generators.own, connections: 64, signal }
    const ceiling = await measureCeiling(() => startNginxCeiling(nginx, cpu), bench, warn)
    result.driver.ceiling = ceiling ?? result.driver.ceiling
  }
  await runHeats(prepared)
  if (result.published !== null && !signal.aborted)
    result.published = await runPublished(study, result, { nginx, signal, progress })
}

interface PreparedRun {
  study: Study
  result: StudyResult
  nginx: Nginx | undefined
  generators: Generators
  context: StudySurroundings
  warn(warning: Warning): void
}

/** One thread of every physical core but the generator's is for the servers; the first of them is where single ones stay. */
function studyCores(warn: (warning: Warning) => void): StudyCores | null {
  const pair = chooseCores(warn)
  if (pair === null) return null
  const { server, generator } = pair
  const cpus = readCpus()
  const taken = new Set(
    [server, generator].flatMap((one) => cpus.find(({ number }) => number === one)?.siblings ?? []),
  )
  const servers = [server]
  for (const { number, siblings } of cpus) {
    if (taken.has(number)) continue
    servers.push(number)
    for (const sibling of siblings) taken.add(sibling)
  }
  return { servers, generator }
}

async function prove({ study, result, nginx, context: { signal, progress } }: PreparedRun): Promise<void> {
  const proven = new Set(result.conformance.map(({ system }) => system))
  const open = new Set(
    result.cells
      .filter(({ system, skipped }) => skipped === null && !proven.has(system))
      .map(({ system }) => system),
  )
  if (open.size === 0) return
  progress.say('Checking that all systems keep the contract.')
  result.conformance.push(...(await proveSystems(study, [...open], { nginx, signal })))
}

async function runHeats(prepared: PreparedRun): Promise<void> {
  const { study, result, context } = prepared
  const { progress, signal } = context
  const done = new Set(result.heats.map(({ race, heat }) => `${race} ${heat}`))
  const heats = planHeats(study, result).filter(({ race, heat }) => !done.has(`${race} ${heat}`))
  const startedAt = performance.now()
  const total = expectedStudyMs(study, result)
  progress.say(
    `${study.name}: ${plural(heats.length, 'heat')}, about ${formatMinutes(total)} (minutes:seconds).`,
  )
  progress.begin(total)
  let before = 0
  for (const [index, planned] of heats.entries()) {
    const race = study.races[planned.race]
    const cells = validCells(result, planned.race)
    if (signal.aborted) return
    if (race === undefined || cells.length === 0) continue
    const expected = expectedRaceMs(race, cells, result.settings)
    if (isLate(result.settings, planned, performance.now() - startedAt + expected)) {
      prepared.warn({
        kind: 'heats-dropped',
        from: planned.heat,
        maxTimeMs: result.settings.maxTimeMs ?? 0,
      })
      return
    }
    const step = `${study.name}, heat ${index + 1} of ${heats.length}: ${planned.race}`
    const onProgress = (done: number) =>
      progress.update(Math.min(1, (before + done * expected) / total), step)
    await runOne(prepared, planned, cells, onProgress)
    store(study, result, context)
    before += expected
  }
}

/** Two launches are the least that say anything, so these are run in any case. */
function isLate({ maxTimeMs }: StudySettings, { heat }: PlannedHeat, endsAtMs: number): boolean {
  return maxTimeMs !== null && heat > LEAST_HEATS && endsAtMs > maxTimeMs
}

const LEAST_HEATS = 2

/** What failed stays void: measuring it again would only cost time. */
function validCells({ cells, conformance, heats }: StudyResult, race: string): StudyCell[] {
  const failed = new Set([
    ...conformance.filter(({ differences }) => differences.length > 0).map(({ system }) => system),
    ...heats
      .filter((heat) => heat.race === race)
      .flatMap(({ failures }) => failures.map(({ system }) => system)),
  ])
  return cellsOf(cells, race).filter(({ system }) => !failed.has(system))
}

async function runOne(
  { study, result, nginx, generators, context }: PreparedRun,
  planned: PlannedHeat,
  cells: readonly StudyCell[],
  onProgress: (done: number) => void,
): Promise<void> {
  const { signal, progress } = context
  const { settings, profile } = result
  const quick = profile === 'quick'
  onProgress(0)
  const heat = await runStudyHeat({
    ...planned,
    study,
    cells,
    settings,
    openRate: openRateOf(result.heats, planned.race),
    quick,
    nginx,
    generators,
    signal,
    onProgress,
  })
  if (signal.aborted) return // half a heat has no launches to compare
  result.heats.push(heat)
  for (const { system, reason } of heat.failures)
    progress.say(`${study.systems[system]?.title ?? system} is void: ${reason}.`)
}

/** Makes the figures again and saves. A full disk must not end the run. */
function store(study: Study, result: StudyResult, { save, progress }: StudySurroundings): void {
  result.analysis = analyseStudy(study, result)
  try {
    save(result)
  } catch (error) {
    progress.say(describeWarning({ kind: 'not-saved', reason: oneLine(error) }))
  }
}

/** What could not be run at all, as opposed to what was measured and does not count: a sentence each. */
export function whatFailed(study: Study, { heats, conformance, published }: StudyResult): string[] {
  const failures = [
    ...conformance
      .filter(({ checked }) => checked === 0)
      .map(({ system, differences: [reason = 'it was not proven'] }) => ({ system, reason })),
    ...heats.flatMap((heat) => heat.failures),
    ...(published ?? []).flatMap(({ system, failure }) =>
      failure === null ? [] : [{ system, reason: failure }],
    ),
  ]
  const sentences = failures.map(
    ({ system, reason }) =>
      `${study.name}: ${study.systems[system]?.title ?? system} could not be run: ${reason}.`,
  )
  return [...new Set(sentences)]
}
