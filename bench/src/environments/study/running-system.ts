import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runtimeOf } from '@startgrid/grid/apps.ts'
import { type Launch, launch, NEVER_SHED, type Startable, type Target } from '@startgrid/grid/launcher.ts'
import { pin } from '@startgrid/machine/cores.ts'
import { serverPids } from '@startgrid/machine/processes.ts'
import type { Nginx } from '@startgrid/nginx/find.ts'
import type { Instance } from '@startgrid/nginx/instance.ts'
import type { Program, System } from '../../model/experiment.ts'
import { certificateOf } from '../certificates.ts'
import { startFront } from './front.ts'
import { strippedTypes } from './stripped-types.ts'

/** A system of a study whose processes run. */
export interface RunningSystem {
  /** What the client talks to. */
  target: Target
  /** The processes of the app; of an NGINX that is alone, its own. Undefined if they are not known. */
  appPids(): number[] | undefined
  /** The processes of the NGINX in front of an app. */
  proxyPids(): number[]
  /** Why it can respond no more: a clause without the full stop. Undefined while it can. */
  whyEnded(): string | undefined
  /** @returns how many requests each worker of a cluster served; null where nobody counts */
  stop(): Promise<number[] | null>
}

interface SystemOptions {
  /** Undefined: systems with an NGINX cannot be started. */
  nginx: Nginx | undefined
  /** The cores to stay on, as taskset writes them; undefined: all. */
  cpus: string | undefined
}

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))

/**
 * Starts all processes of a system and waits until it serves.
 * @throws {Error} with a sentence; nothing is left running
 */
export async function startSystem(system: System, options: SystemOptions): Promise<RunningSystem> {
  const directory = mkdtempSync(join(tmpdir(), 'startgrid-study-'))
  const copies: Launch[] = []
  let instance: Instance | undefined
  const stop = async (): Promise<number[] | null> => {
    await instance?.stop()
    await Promise.all(copies.map((one) => one.stop()))
    rmSync(directory, { recursive: true, force: true })
    const [first] = copies
    return first === undefined ? null : spreadOf(first)
  }
  try {
    copies.push(...(await startCopies(system, options, directory)))
    if (system.nginx !== undefined) instance = await startFrontOf(system, options, copies)
  } catch (error) {
    await stop()
    throw error
  }
  const [target] = instance?.addresses ?? copies.map((one) => one.target)
  if (target === undefined) throw new Error(`${system.title} has neither an app nor an NGINX.`)
  const proxyPids = () => instance?.pids() ?? []
  return {
    target,
    appPids: () => (copies.length === 0 ? proxyPids() : pidsOf(copies)),
    proxyPids: () => (copies.length === 0 ? [] : proxyPids()),
    whyEnded: () => endingOf(copies) ?? (instance && proxyPids().length === 0 ? 'NGINX ended' : undefined),
    stop,
  }
}

/** All that can be started are stopped again if one cannot. */
async function startCopies(
  { app, nginx, tls }: System,
  { cpus }: SystemOptions,
  directory: string,
): Promise<Launch[]> {
  if (app === undefined) return []
  const socket = nginx?.front.endsWith('-socket') ? { SOCKET: join(directory, 'app.sock') } : {}
  const files = tls !== undefined && nginx === undefined ? await certificateOf(tls) : undefined
  const secure = files && { CERTIFICATE: files.certificate, KEY: files.key }
  const env = { ...NEVER_SHED, ...app.env, ...socket, ...secure }
  const options = { env, execArgv: flagsOf(app), cpu: cpus }
  const starts = await Promise.allSettled(
    Array.from({ length: app.copies ?? 1 }, () => launch(startableOf(app), options)),
  )
  const started = starts.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
  const failed = starts.find((one) => one.status === 'rejected')
  if (failed === undefined) {
    pinContainers(started, cpus)
    return started
  }
  await Promise.all(started.map((one) => one.stop()))
  throw failed.reason
}

/** Without WebAssembly Node cannot read TypeScript by itself. */
function flagsOf({ package: path, flags = [] }: Program): string[] {
  return flags.includes('--jitless') ? [...flags, '--import', strippedTypes(path)] : [...flags]
}

function startableOf({ package: path, role, runtime }: Program): Startable {
  return {
    name: `${basename(path)}/${role}`,
    runtime: runtime ?? runtimeOf(path),
    role,
    directory: join(ROOT, path),
  }
}

/** A container does not inherit the cores of the process that asked for it. */
function pinContainers(launches: readonly Launch[], cpus: string | undefined): void {
  if (cpus === undefined) return
  for (const one of launches) if (one.ready.nginx !== undefined) pin(serverPids(one) ?? [], cpus)
}

async function startFrontOf(
  { app, nginx: front, tls, title }: System,
  { nginx, cpus }: SystemOptions,
  copies: readonly Launch[],
): Promise<Instance> {
  if (nginx === undefined || front === undefined)
    throw new Error(`${title} needs an NGINX, and there is none.`)
  return startFront(nginx, {
    kind: front.front,
    upstreams: copies.map(({ target }) => target),
    workers: front.workers ?? 1,
    cpus,
    assets: app?.role === 'ssr',
    lines: front.lines,
    certificate: tls && (await certificateOf(tls)),
  })
}

function pidsOf(copies: readonly Launch[]): number[] | undefined {
  const pids = copies.map((one) => serverPids(one))
  return pids.some((own) => own === undefined) ? undefined : pids.flatMap((own) => own ?? [])
}

function endingOf(copies: readonly Launch[]): string | undefined {
  const ended = copies
    .map(({ child }) => child)
    .find((one) => one.exitCode !== null || one.signalCode !== null)
  if (ended === undefined) return undefined
  return ended.signalCode === null
    ? `the app ended with exit code ${ended.exitCode}`
    : `the app was ended by ${ended.signalCode}`
}

/** The last line of a cluster's log (packages/shared/src/launch/cluster.ts). */
function spreadOf(launch: Launch): number[] | null {
  const line = launch.output().trimEnd().split('\n').at(-1) ?? ''
  if (!line.includes('"spread":')) return null
  const { spread } = JSON.parse(line) as { spread: { served: { requests: number } | null }[] }
  const requests = spread.map(({ served }) => served?.requests)
  return requests.every((one) => one !== undefined) ? requests : null
}
