import { oneLine } from '@startgrid/cli/text.ts'
import { type Launch, launch, type Startable, type Target } from '@startgrid/grid/launcher.ts'
import { peakMemory, serverPids } from '@startgrid/machine/processes.ts'
import type { Nginx } from '@startgrid/nginx/find.ts'
import type { Instance } from '@startgrid/nginx/instance.ts'
import type { Cell, Settings } from '../model/result.ts'
import type { FrontKind } from '../model/study.ts'
import { beginAccountOf, type Servers } from './servers.ts'
import { startFront } from './study/front.ts'

/** One way to serve hello: a program, and what stands in front of it. */
export interface Way {
  program: Startable
  env?: Readonly<Record<string, string>>
  front?: FrontKind
}

interface Started {
  launched: Launch
  nginx: Instance | undefined
}

/** Starts one program per cell. One that does not start is missing; the rest goes on. */
export async function startWays(
  ways: ReadonlyMap<Cell, Way>,
  { nginx, cores }: { nginx: Nginx | undefined; cores: Settings['cores'] },
): Promise<Servers> {
  const failures = new Map<string, string>()
  const started = new Map<string, Started>()
  await Promise.all(
    [...ways].map(async ([{ id }, way]) => {
      try {
        started.set(id, await startWay(way, nginx, cores?.server))
      } catch (error) {
        failures.set(id, oneLine(error))
      }
    }),
  )
  const find = ({ id }: Cell) => started.get(id)
  return {
    target: (cell) => targetOf(find(cell)),
    whyMissing: ({ id }) => failures.get(id) ?? 'it was not started',
    engine: () => null,
    whyEnded: async (cell) => whyEnded(find(cell)),
    beginAccount: async (cell, driver) => {
      const one = find(cell)
      return beginAccountOf({
        app: one && serverPids(one.launched),
        proxy: one?.nginx?.pids() ?? [],
        generator: driver.pids(),
        cores,
      })
    },
    launches: async (cells) =>
      cells.flatMap((cell) => {
        const one = find(cell)
        return one === undefined
          ? []
          : { app: cell.app, peakMemory: peakMemory(serverPids(one.launched)) ?? null }
      }),
    stop: async () => {
      await Promise.all([...started.values()].map(({ nginx: front }) => front?.stop()))
      await Promise.all([...started.values()].map(({ launched }) => launched.stop()))
    },
  }
}

async function startWay(
  { program, env = {}, front }: Way,
  nginx: Nginx | undefined,
  cpu: number | undefined,
): Promise<Started> {
  const launched = await launch(program, { env, cpu })
  if (front === undefined) return { launched, nginx: undefined }
  try {
    if (nginx === undefined) throw new Error('there is no NGINX')
    const cpus = cpu === undefined ? undefined : String(cpu)
    const options = { kind: front, upstreams: [launched.target], workers: 1, cpus, assets: false }
    return { launched, nginx: await startFront(nginx, options) }
  } catch (error) {
    await launched.stop()
    throw error
  }
}

function targetOf(one: Started | undefined): Target | undefined {
  return one?.nginx === undefined ? one?.launched.target : one.nginx.addresses[0]
}

function whyEnded(one: Started | undefined): string | null {
  const { exitCode = null, signalCode = null } = one?.launched.child ?? {}
  if (exitCode !== null) return `it ended with exit code ${exitCode}`
  if (signalCode !== null) return `it was ended by ${signalCode}`
  return one?.nginx?.pids().length === 0 ? 'NGINX ended' : null
}
