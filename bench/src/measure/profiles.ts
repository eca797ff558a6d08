import { readThreads } from '@startgrid/machine/accounts.ts'
import { sum } from '@startgrid/stats/moments.ts'
import { isProbe } from '../result/experiment.ts'
import type { Finding } from '../result/figures.ts'
import { mergeTrees, type ProfiledStart, packTree, type Tree } from '../result/profile.ts'
import type { ProfileKind, Profiler } from '../servers/command/profiler.ts'
import type { Server } from '../servers/servers.ts'
import { attempt, type Course, runHeat } from './heat.ts'
import type { HeatsRun } from './heats.ts'
import { type Entrant, measureSlice } from './load.ts'

/** Pairs of starts that say where a difference comes from, after all those that say how large it is. */

const STARTS = 6
const SLICE_MS = 400
/** Of a pair, if nobody takes the core. */
const EXPECTED_MS = 11_000
/** Of a start: six of them tell 0.5 % of a request from counting noise in a function that has 2 %. A busy core gives less. */
const ENOUGH_SAMPLES = 4000
const MOST_SLICES = 8
/** Profiles the pairs of these findings. What it finds is in the result. */
export async function profileRaces(run: HeatsRun, findings: readonly Finding[]): Promise<void> {
  const { result, progress, signal } = run
  progress.begin(findings.length * STARTS * EXPECTED_MS)
  for (const [index, finding] of findings.entries()) {
    let reason: string | undefined
    for (let start = 1; start <= STARTS && !signal.aborted && reason === undefined; start++) {
      const done = (index * STARTS + start - 1) / (findings.length * STARTS)
      progress.update(done, `${finding.race}, profile ${start} of ${STARTS}`)
      reason = await profilePair(run, finding, start)
    }
    run.store()
    if (!result.analysis?.whys?.some(({ race }) => race === finding.race))
      reason ??= 'No function is named: too few starts with the profiler came to their end.'
    if (reason !== undefined && !signal.aborted) run.warn({ kind: 'race', text: reason })
  }
  run.store()
}

/** @returns why there is none: a sentence; undefined if there is */
async function profilePair(
  run: HeatsRun,
  { race: name, under, over }: Finding,
  start: number,
): Promise<string | undefined> {
  const { experiment, result, signal } = run
  const race = experiment.races[name]
  if (race === undefined || isProbe(race)) return undefined
  const cells = [under, over].flatMap(
    (system) => result.cells.find((cell) => cell.race === name && cell.system === system) ?? [],
  )
  const profiled: ProfiledStart[] = []
  let reason: string | undefined
  const { failures } = await runHeat({
    planned: { race: name, heat: start, seed: result.seed + start },
    expectedMs: Number.POSITIVE_INFINITY,
    signal,
    onProgress: () => {},
    cells,
    settings: result.settings,
    start: (some, options) => run.start(some, { ...options, profiled: true }),
    generator: run.generator,
    workloadOf: ({ system }) => race.workloads?.[system] ?? race.workload,
    measure: async (course) => {
      reason = whyNotProfiled(course.entrants)
      if (reason === undefined) profiled.push(...(await takeTurns(course, start)))
    },
  })
  const [failed] = failures
  if (reason !== undefined || signal.aborted) return reason
  if (failed !== undefined) {
    const title = cells.find(({ id }) => id === failed.cell)?.title
    return `A start of ${title} with the profiler failed: ${failed.reason}.`
  }
  result.profiles = [...(result.profiles ?? []), ...profiled]
  return undefined
}

/** @returns the sentence that names who did not load the profiler; undefined if all did */
export function whyNotProfiled(started: readonly Pick<Entrant, 'cell' | 'server'>[]): string | undefined {
  const without = started.find(({ server }) => !server.profiler?.threads().length)
  return (
    without &&
    `Functions can be named only for servers whose process loads our profiler (Node 18 or later, which keeps NODE_OPTIONS); ${without.cell.title} did not.`
  )
}

interface Taken {
  requests: number
  /** Seconds: of threads that load the profiler, and of all. */
  profiled: number
  all: number | null
  tree: Tree
}

/** In turns. The first slice says what a request costs, because a profiler makes it dearer. */
async function takeTurns(course: Course, start: number): Promise<ProfiledStart[]> {
  let turn = 0
  const takeTurn = async (kind?: ProfileKind) => {
    const taken = new Map<Entrant, Taken>()
    for (const one of (start + ++turn) % 2 === 0 ? course.entrants : course.entrants.toReversed()) {
      const slice = await attempt(course, one.cell, () => take(course, one, turn, kind))
      if (slice !== undefined) taken.set(one, slice)
    }
    return taken
  }
  const plain = await takeTurn()
  const cpu: Map<Entrant, Taken>[] = []
  const samplesOf = (one: Entrant) =>
    sum(cpu.flatMap((taken) => taken.get(one)?.tree.map(({ count }) => count) ?? []))
  const isShort = (one: Entrant) => samplesOf(one) < ENOUGH_SAMPLES
  while (cpu.length < MOST_SLICES && course.entrants.some(isShort)) cpu.push(await takeTurn('cpu'))
  const bytes = await takeTurn('heap')
  return course.entrants.flatMap((entrant) => {
    const { requests = 0, profiled = 0, all = null } = plain.get(entrant) ?? {}
    const heap = bytes.get(entrant)
    if (heap === undefined || all === null) return []
    return {
      ...{ race: entrant.cell.race, system: entrant.cell.system, start },
      cpu: { profiled: profiled / requests, all: all / requests },
      samples: packTree(mergeTrees(cpu.map((taken) => taken.get(entrant)?.tree ?? []))),
      allocated: heap.tree.length > 0 ? { requests: heap.requests, bytes: packTree(heap.tree) } : null,
    }
  })
}

/** The profiler is on under load alone: its thread signals idle ones as well, and a profiler that is always on costs two to three times as much. */
async function take(course: Course, entrant: Entrant, turn: number, kind?: ProfileKind): Promise<Taken> {
  const { server } = entrant
  const profiler = server.profiler as Profiler
  let profiled = 0
  const beginAccount: Server['beginAccount'] = (generator) => {
    const before = cpuOfThreads(profiler)
    const end = server.beginAccount(generator)
    return () => {
      profiled = cpuOfThreads(profiler) - before
      return end()
    }
  }
  if (kind !== undefined) await profiler.start(kind)
  const { requests, cpuSeconds } = await measureSlice(
    course,
    { ...entrant, server: { ...server, beginAccount } },
    { phase: 'measure', durationMs: SLICE_MS, pass: turn, seed: turn },
  )
  return { requests, profiled, all: cpuSeconds.app, tree: kind ? await profiler.stop(kind) : [] }
}

/** Seconds so far. */
function cpuOfThreads(profiler: Profiler): number {
  return sum(profiler.threads().map(({ pid, tid }) => (readThreads(pid)?.get(String(tid))?.onCpu ?? 0) / 1e9))
}
