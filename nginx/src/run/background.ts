import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Binary, containerName } from '../find/binary.ts'
import { cacheDirectory } from '../find/cache.ts'
import { containerPid } from '../find/docker.ts'
import type { Nginx } from '../find/find.ts'
import type { Front } from '../render/front.ts'
import { leave, readErrors } from './launch.ts'
import {
  containerMaster,
  endOrphans,
  explainRejection,
  type Master,
  nativeMaster,
  reloadMaster,
  stopMaster,
} from './master.ts'
import { createPlace, type HttpOptions, type Plan, planFronts, removePlace } from './plan.ts'
import { isMasterOf, isRunning } from './processes.ts'
import { awaitResponses } from './ready.ts'

/** The stored state of the NGINX in the background. */
export interface State {
  readonly pid: number
  /** The container's name; undefined for a native NGINX. */
  readonly container: string | undefined
  readonly binary: Binary
  readonly keepaliveMinTimeout: boolean
  readonly tls: Nginx['tls']
  /** `Nginx.describe()`. */
  readonly description: string
  readonly dir: string
  readonly front: Front
  readonly workers: number
  readonly http: HttpOptions
}

/** The files of a user's one background NGINX: in $XDG_RUNTIME_DIR, which ends with the session, or in the cache. */
export function stateDirectory(env: NodeJS.ProcessEnv = process.env): string {
  const runtime = env.XDG_RUNTIME_DIR
  return runtime ? join(runtime, 'startgrid', 'nginx') : join(cacheDirectory(env), 'run', 'nginx')
}

/** The background NGINX, if it runs. What a crash or a reboot left behind is removed. */
export async function readState(directory: string): Promise<State | undefined> {
  const text = await readFile(join(directory, 'state.json'), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const state = parseState(text)
  if (state !== undefined && isMasterOf(state.pid, state.dir)) return state
  if (state?.container === undefined) endOrphans(state?.pid ?? 0)
  await rm(directory, { recursive: true, force: true })
  return undefined
}

function parseState(text: string): State | undefined {
  try {
    return JSON.parse(text) as State
  } catch {
    return undefined
  }
}

/**
 * Starts an NGINX that outlives this process and waits until it serves.
 * @throws {Error} one sentence, as `startNginx`
 */
export async function startBackground(
  nginx: Nginx,
  front: Front,
  workers: number,
  trustedProxies: string,
  directory: string,
): Promise<State> {
  await mkdir(directory, { recursive: true })
  const place = await createPlace(join(directory, 'instance'))
  try {
    const http = { accessLog: `${join(place.dir, 'access.log')} startgrid if=$logged`, trustedProxies }
    const plan = await planFronts(nginx, [front], { dir: place.dir, workers }, http)
    const { ca: _, ...listen } = plan.addresses[0] ?? front.listen
    const settled = { ...front, listen }
    const { pid, container } = await launch(nginx, plan)
    const { binary, keepaliveMinTimeout, tls } = nginx
    const description = nginx.describe()
    const about = {
      binary,
      keepaliveMinTimeout,
      tls,
      description,
      dir: place.dir,
      front: settled,
      workers,
      http,
    }
    const state: State = { pid, container, ...about }
    await writeState(directory, state)
    return state
  } catch (error) {
    await removePlace(place)
    throw error
  }
}

async function launch(nginx: Nginx, plan: Plan): Promise<{ pid: number; container: string | undefined }> {
  const { dir } = plan.place
  await writeFile(join(dir, 'nginx.conf'), plan.render(plan.place))
  const name = containerName()
  const left = await leave({ binary: nginx.binary, dir, name, mounts: plan.mounts, cpus: undefined })
  const pid = left ?? (await containerPid(name)) ?? 0
  try {
    await awaitResponses(plan, () => isRunning(pid))
  } catch (error) {
    if (isRunning(pid)) process.kill(pid, 'SIGTERM')
    const log = readErrors(dir)
    throw log === '' ? error : new Error(explainRejection(log))
  }
  return { pid, container: left === undefined ? name : undefined }
}

/** Puts the configuration files as they are now, or another number of workers, into use without dropping a request. */
export async function reloadBackground(state: State, workers: number, directory: string): Promise<State> {
  const place = { dir: state.dir, workers }
  const plan = await planFronts(state, [state.front], place, state.http, [state.front.listen])
  const size = readErrors(state.dir).length
  await reloadMaster(await masterOf(state), plan.render(plan.place), workers, () =>
    readErrors(state.dir).slice(size),
  )
  await awaitResponses(plan, () => isRunning(state.pid))
  const next = { ...state, workers }
  await writeState(directory, next)
  return next
}

/** Ends it. @returns whether all responses were complete within ten seconds */
export async function stopBackground(state: State, directory: string): Promise<boolean> {
  const drained = await stopMaster(await masterOf(state), 10_000)
  await rm(directory, { recursive: true, force: true })
  return drained
}

async function masterOf(state: State): Promise<Master> {
  if (state.container === undefined) return nativeMaster(state.pid, state.dir, state.binary)
  const master = await containerMaster(state.container, state.dir)
  if (master === undefined) throw new Error('The container of this NGINX has ended; start it again.')
  return master
}

/** Writes a new file and renames it, so that another command reads either the old or the new state. */
async function writeState(directory: string, state: State): Promise<void> {
  const file = join(directory, 'state.json')
  await writeFile(`${file}.next`, `${JSON.stringify(state, undefined, 2)}\n`)
  await rename(`${file}.next`, file)
}
