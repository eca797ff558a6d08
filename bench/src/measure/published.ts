import type { Progress } from '@startgrid/cli/progress.ts'
import { oneLine } from '@startgrid/cli/text.ts'
import { formatAddress } from '@startgrid/nginx/address.ts'
import type { Environment } from '../environments/environment.ts'
import type { Server } from '../environments/servers.ts'
import { publishedSeconds, publishedSystems } from '../experiment/study.ts'
import type { Cell } from '../model/cell.ts'
import { type Experiment, isProbe, type PublishedLoad, type System } from '../model/experiment.ts'
import type { PublishedFigures } from '../model/figures.ts'
import type { StudyResult } from '../model/result.ts'
import { commandOf, runTool, type ToolRun } from './published-tool.ts'

/**
 * `--as-published`: the source's own tool and settings on its systems, one at a time and without any pinning, as the source did it. Its
 * figures are shown beside ours and decide nothing.
 */

interface PublishedRun {
  environment: Pick<Environment, 'start'>
  signal: AbortSignal
  progress: Progress
}

export async function runPublished(
  study: Experiment,
  result: StudyResult,
  { environment, signal, progress }: PublishedRun,
): Promise<PublishedFigures[]> {
  const figures: PublishedFigures[] = []
  for (const load of study.published ?? []) {
    for (const name of publishedSystems(study, load)) {
      const system = study.systems[name]
      const cell = result.cells.find((one) => one.race === load.race && one.system === name)
      if (signal.aborted || system === undefined || cell?.skipped !== null) continue
      progress.update(1, `${study.name} as published: ${system.title}`)
      const seconds = publishedSeconds(load, result.settings.profile === 'quick')
      const best = await runSystem({ study, load, cell, system }, { seconds, environment, signal })
      if (best !== undefined) figures.push(best)
    }
  }
  return figures
}

interface PublishedSystem {
  study: Experiment
  load: PublishedLoad
  cell: Cell
  system: System
}

/** The best of all numbers of connections. @returns undefined after an abort */
async function runSystem(
  { study, load, cell, system }: PublishedSystem,
  { seconds, environment, signal }: { seconds: number } & Omit<PublishedRun, 'progress'>,
): Promise<PublishedFigures | undefined> {
  const { race, tool, threads } = load
  const runs = load.connections.map((connections): ToolRun => ({ tool, connections, threads, seconds }))
  const frame = { race, system: cell.system, tool }
  const [first] = runs
  if (first === undefined) return undefined
  try {
    const servers = await environment.start([cell], { pinned: false })
    try {
      const server = servers.running.get(cell.id)
      if (server === undefined) throw new Error(servers.failures.get(cell.id))
      const tried: PublishedFigures[] = []
      for (const run of runs) {
        const measured = await runTool(run, urlOf(server, pathOf({ study, load, cell, system })), signal)
        const { connections } = run
        tried.push({ ...frame, command: commandOf(run), connections, ...measured, failure: null })
      }
      return tried.toSorted((one, other) => other.rate - one.rate)[0]
    } finally {
      await servers.stop()
    }
  } catch (error) {
    if (signal.aborted) return undefined
    const nothing = {
      rate: 0,
      latency: { mean: 0, p50: 0, p975: null, p99: 0 },
      medianRate: null,
      errors: {},
    }
    return {
      ...frame,
      command: commandOf(first),
      connections: first.connections,
      ...nothing,
      failure: oneLine(error),
    }
  }
}

function pathOf({ study, load, system }: PublishedSystem): string {
  const race = study.races[load.race]
  if (load.path !== undefined) return load.path
  if (system.workload !== undefined) return system.workload.path
  return race === undefined || isProbe(race) ? '/' : race.workload.path
}

function urlOf({ target }: Server, path: string): string {
  if ('socketPath' in target) throw new Error('The tools of the sources do not speak over unix sockets.')
  return `http://${formatAddress(target)}${path}`
}
