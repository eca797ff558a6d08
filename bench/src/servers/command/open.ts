import { oneLine } from '@startgrid/cli/text.ts'
import { readTarget } from '@startgrid/loadgen/request.ts'
import { readThreads } from '@startgrid/machine/accounts.ts'
import { chooseCores } from '@startgrid/machine/cores.ts'
import type { Guard } from '@startgrid/machine/guard.ts'
import { listenersOf, peakMemory, processTree } from '@startgrid/machine/processes.ts'
import { type CommandServer, startCommand } from '@startgrid/servers/command.ts'
import type { Asked } from '@startgrid/servers/request.ts'
import { createRandom, shuffle } from '@startgrid/stats/random.ts'
import type { Experiment, System } from '../../result/experiment.ts'
import type { LaunchRecord } from '../../result/heat.ts'
import type { Cell, Cores } from '../../result/result.ts'
import { beginAccountOf, type Opened, type OpenOptions, type Server, systemOf } from '../servers.ts'
import { isHere, whySilent } from './origin.ts'
import { isNode, openProfiler } from './profiler.ts'

interface CommandOptions extends OpenOptions {
  guard: Guard
  /** Of the servers, at most; each of them has all. */
  cores: number
  /** Of the order in which they start. */
  seed: number
}

/**
 * Servers that nobody here wrote: commands, and what runs already, on this machine or in a private network. It is also in packages/startgrid, so it
 * loads nothing of servers/native.
 */
export async function openCommands(
  experiment: Experiment,
  { guard, warn, signal, progress, seed, cores: most }: CommandOptions,
): Promise<Opened> {
  const cores = chooseCores(most, warn)
  const random = createRandom(seed)
  /** Commands that did not heed SIGTERM once are not asked for long again. */
  const deaf = new Set<string>()
  const start = async (
    { app, title }: Cell,
    { command, running, ready = { path: '/' } }: System,
    until: AbortSignal,
    profiled: boolean,
  ): Promise<Running> => {
    if (running !== undefined) return startedElsewhere(running, ready, signal)
    if (command === undefined) throw new Error('it has no command')
    const cpus = cores?.servers.join(',')
    const profiler = profiled ? await openProfiler(guard) : undefined
    const server = await startCommand(
      { ...command, env: { ...command.env, ...profiler?.env } },
      {
        guard,
        cpus,
        signal: until,
        tell: (text) => progress.say(`${title} ${text}`),
        isElsewhere: (place) =>
          warn({
            kind: 'race',
            text: `${title} listens on ${place}, not on PORT of its environment or on {port} in its command, and was raced there.`,
          }),
        ...(deaf.has(app) && { graceMs: 100 }),
      },
    ).catch((error) => {
      profiler?.close()
      throw error
    })
    const stop = async () => {
      if (await server.stop()) deaf.add(app)
      profiler?.close()
    }
    return { ...server, profiler, whyEnded: async () => server.whyEnded() ?? null, stop }
  }
  return {
    cores,
    nginx: null,
    /** One after the other, in random order, so that each has the core for its start. */
    start: async (cells, { signal: until, together = false, profiled = false }) => {
      const started = new Map<Cell, Running>()
      const failures = new Map<string, string>()
      const rest = new AbortController()
      const first = AbortSignal.any([until, rest.signal])
      const begin = async (cell: Cell) => {
        try {
          started.set(cell, await start(cell, systemOf(experiment, cell), first, profiled))
        } catch (error) {
          // Of those that are ended because of another one, nothing is said.
          if (first.aborted && error === first.reason) return
          failures.set(cell.id, error instanceof Error ? error.message : oneLine(error))
          if (together) rest.abort()
        }
      }
      if (together) await Promise.all(cells.map(begin))
      else for (const cell of shuffle(cells, random)) await begin(cell)
      const each = [...started.values()]
      const before = new Map(each.map((one) => [one, usedBy(one.pids())]))
      const cpu = each.reduce((sum, { startCpu = 0 }) => sum + startCpu, 0)
      // Those that were started at once waited for each other's CPU.
      const startMs = each.reduce((sum, { startup = 0, startCpu = 0 }) => {
        return sum + 1000 * Math.max(startCpu, startup - (together ? cpu - startCpu : 0))
      }, 0)
      return {
        running: new Map(
          [...started].map(([{ id }, one]) => [id, { ...one, beginAccount: accountOf(one, cores) }]),
        ),
        failures,
        startMs,
        launches: async () => [...started].map(([cell, one]) => launchOf(cell, one, before.get(one))),
        stop: async () => void (await Promise.all(each.map((one) => one.stop()))),
      }
    },
  }
}

interface Running extends Omit<Server, 'beginAccount'>, Pick<CommandServer, 'pids'> {
  startup?: number
  isElsewhere?: boolean
  startCpu?: number
  readyMemory?: number | undefined
  stop(): Promise<void>
}

/** Nothing is started there, and nothing stopped. Nobody accounts for what is on another machine. */
async function startedElsewhere(origin: string, ready: Asked, signal: AbortSignal): Promise<Running> {
  const target = readTarget(origin)
  const roots = (await isHere(target)) ? listenersOf(target) : []
  return {
    target,
    pids: () => roots.flatMap(processTree),
    whyEnded: async () => {
      const reason = await whySilent(origin, ready, { signal })
      return reason === null ? null : `it no longer responds (${reason})`
    },
    stop: async () => {},
  }
}

function accountOf({ pids }: Running, cores: Cores | null): Server['beginAccount'] {
  return (generator) => {
    const app = pids()
    return beginAccountOf({ app: app.length > 0 ? app : undefined, proxy: [], generator, cores })
  }
}

function launchOf(
  { app }: Cell,
  { startup, isElsewhere, readyMemory, pids }: Running,
  before: Map<string, Used> | undefined,
): LaunchRecord {
  const { processes, threads } = workersOf(pids(), before)
  return {
    app,
    peakMemory: peakMemory(pids()) || null,
    // Else it would be the time of our search.
    ...(startup !== undefined && !isElsewhere && { startup }),
    ...(readyMemory !== undefined && { readyMemory }),
    ...(processes > 0 && { processes }),
    ...(threads > 1 && { threads }),
    ...(pids().some(isNode) && { isNode: true as const }),
  }
}

type Used = { pid: number; onCpu: number }

/** The CPU of each thread so far, by its number. */
export function usedBy(pids: readonly number[]): Map<string, Used> {
  const threads = pids.flatMap((pid) =>
    [...(readThreads(pid) ?? [])].map(([id, { onCpu }]) => [id, { pid, onCpu }] as const),
  )
  return new Map(threads)
}

/** How many have worked since they were ready: a package manager, a primary or a helper uses much less CPU than the busiest one. */
export function workersOf(pids: readonly number[], before: Map<string, Used> = new Map()) {
  const used = [...usedBy(pids)].map(([id, { pid, onCpu }]) => ({
    pid,
    onCpu: onCpu - (before.get(id)?.onCpu ?? 0),
  }))
  const totals = [...Map.groupBy(used, ({ pid }) => pid).values()].map((own) =>
    own.reduce((sum, { onCpu }) => sum + onCpu, 0),
  )
  return { processes: busyOf(totals), threads: busyOf(used.map(({ onCpu }) => onCpu)) }
}

function busyOf(used: readonly number[]): number {
  const most = Math.max(0, ...used)
  return used.filter((one) => one > 0.25 * most).length
}
