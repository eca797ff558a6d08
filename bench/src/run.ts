import { ROLES, type Role } from '@startgrid/grid/matrix.ts'
import type { Nginx } from '@startgrid/nginx/find.ts'
import { measureCeiling } from './ceiling.ts'
import { createCells } from './cell.ts'
import { chooseCores } from './cores.ts'
import { Driver } from './driver.ts'
import { expectedMs, runHeat } from './heat.ts'
import { describeMachine, foreignLoad, readVersions } from './machine.ts'
import type { Options } from './options.ts'
import { formatTime, type Progress } from './progress.ts'
import { findProxy } from './proxy.ts'
import { createRandom, type Random, shuffle } from './random.ts'
import type { NginxVersion, Result, Settings } from './results.ts'
import { createMeasured, describeVoided, type Measured, summarise } from './summary.ts'
import { oneLine, plural } from './text.ts'

/** Above this part of all cores, others use so much of the machine that rates say little. */
const BUSY = 0.1

export interface Surroundings {
  progress: Progress
  /** Called with the result so far after every heat: an interruption loses the heat in flight at most. */
  save(result: Result): void
  /** An abort stops all servers; what was measured is in the result. */
  signal: AbortSignal
}

/**
 * Measures the chosen cells, heat by heat in random order.
 * @param command goes into the result
 */
export async function runBench(
  options: Options,
  command: string,
  surroundings: Surroundings,
): Promise<Result> {
  const { progress, signal } = surroundings
  const cautions: string[] = []
  const warn = (text: string): void => {
    cautions.push(text)
    progress.say(text)
  }
  const measured = createCells(options.apps, options.topologies).map(createMeasured)
  const startedAt = new Date().toISOString()
  await checkLoad(warn, signal)
  const nginx = await findProxy(measured, { download: options.download, signal }, warn, progress)
  const cores = chooseCores(warn)
  const driver = new Driver(cores?.generator)
  const result: Result = {
    schema: 1,
    startedAt,
    finishedAt: null,
    command,
    seed: options.seed,
    machine: describeMachine(),
    versions: readVersions(),
    nginx: nginx ? versionOf(nginx) : null,
    driver: { name: 'startgrid', ceiling: null },
    settings: settingsOf(options, cores),
    cautions,
    cells: [],
  }
  const course = { ...surroundings, options, measured, nginx, driver, cpu: cores?.server, warn }
  try {
    if (nginx) result.driver.ceiling = await measureCeiling(nginx, { ...course, ...options }, warn)
    await runHeats(course, result)
    if (!signal.aborted) result.finishedAt = new Date().toISOString()
  } finally {
    await driver.stop()
    store(course, result)
  }
  return result
}

interface Course extends Surroundings {
  options: Options
  measured: readonly Measured[]
  nginx: Nginx | undefined
  driver: Driver
  cpu: number | undefined
  warn(text: string): void
}

interface Heat {
  role: Role
  round: number
  expectedMs: number
}

/** Every round has one heat per role; all of them in one shuffled order, so that a slow minute does not hit one role alone. */
async function runHeats(course: Course, result: Result): Promise<void> {
  const { options, progress, signal } = course
  const random = createRandom(options.seed)
  const heats = shuffle(planHeats(course), random)
  const total = heats.reduce((sum, heat) => sum + heat.expectedMs, 0)
  if (heats.length === 0 || signal.aborted) return
  progress.say(`${plural(heats.length, 'heat')}, about ${formatTime(total)} (minutes:seconds).`)
  progress.begin(total)
  let before = 0
  for (const [index, heat] of heats.entries()) {
    if (signal.aborted) return
    const step = `heat ${index + 1} of ${heats.length}: ${heat.role}, round ${heat.round}`
    const show = (done: number) => progress.update((before + done * heat.expectedMs) / total, step)
    await runOne(course, heat, random, show)
    store(course, result)
    before += heat.expectedMs
  }
}

function planHeats({ options, measured }: Course): Heat[] {
  const rounds = Array.from({ length: options.rounds }, (_, index) => index + 1)
  return ROLES.flatMap((role) => {
    const cells = validOf(role, measured).map(({ cell }) => cell)
    if (cells.length === 0) return []
    return rounds.map((round) => ({ role, round, expectedMs: expectedMs(cells, options) }))
  })
}

async function runOne(
  course: Course,
  { role, round }: Heat,
  random: Random,
  onProgress: (done: number) => void,
): Promise<void> {
  const { options, progress } = course
  const measured = validOf(role, course.measured)
  if (measured.length === 0) return
  onProgress(0)
  await runHeat({ ...course, ...options, measured, role, round, random, onProgress })
  const voided = summarise(measured.filter((one) => one.voidedBecause !== undefined))
  for (const sentence of describeVoided(voided)) progress.say(sentence)
}

/** What is void stays so: measuring it again would only cost time. */
function validOf(role: Role, measured: readonly Measured[]): Measured[] {
  return measured.filter((one) => one.cell.app.role === role && one.voidedBecause === undefined)
}

/** A disk that fills up meanwhile must not end the run. */
function store({ measured, save, warn }: Course, result: Result): void {
  result.cells = summarise(measured)
  try {
    save(result)
  } catch (error) {
    const sentence = `The result could not be saved: ${oneLine(error)}.`
    if (!result.cautions.includes(sentence)) warn(sentence)
  }
}

async function checkLoad(warn: (text: string) => void, signal: AbortSignal): Promise<void> {
  const load = await foreignLoad(signal)
  if (load === undefined || load <= BUSY || signal.aborted) return
  const percent = Math.round(load * 100)
  warn(`Other programs use ${percent} % of this machine: close them, or read the rates as lower bounds.`)
}

function settingsOf(
  { rounds, durationMs, warmupMs, connections }: Options,
  cores: Settings['cores'],
): Settings {
  return { rounds, durationMs, warmupMs, connections, cores }
}

function versionOf({ kind, version, njs }: Nginx): NginxVersion {
  return { kind, version, njs: njs ? { version: njs.version, engine: njs.engine } : null }
}
