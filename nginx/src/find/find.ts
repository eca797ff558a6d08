import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import type { Binary } from './command.ts'
import { cacheDirectory, downloadNginx, isDebianLike, unpackedNginx } from './download.ts'
import { type Probe, probe } from './probe.ts'

/** An NGINX that runs here. */
export interface Nginx extends Probe {
  /** `path`: installed on this machine; `download`: unpacked packages. */
  readonly kind: 'path' | 'download'
  readonly binary: Binary
  /** Where it comes from and what it can do, as a phrase for a report or a log line. */
  describe(): string
}

/** No NGINX was found. */
export interface NotFound {
  readonly kind: 'none'
  /** Why each attempt failed, and the command that helps on this machine. */
  describe(): string
}

export interface FindOptions {
  /** Whether packages may be downloaded; default true. What an earlier run unpacked is used anyway. */
  readonly download?: boolean
  /** Looked at after the PATH. */
  readonly systemDirectories?: readonly string[]
}

/** Minimal PATHs (cron, some desktops) leave these out, but packages install nginx there. */
const SYSTEM_DIRECTORIES = ['/usr/local/sbin', '/usr/sbin', '/usr/local/bin', '/opt/homebrew/bin']

type Found = Nginx | string

/**
 * Finds an NGINX in which njs works: an installed one, or one unpacked from the distribution's packages. The last resort is an installed
 * NGINX without njs: it can proxy, but not run the njs apps. STARTGRID_NGINX allows only one way.
 * @throws {Error} if STARTGRID_NGINX is none
 */
export async function findNginx(options: FindOptions = {}): Promise<Nginx | NotFound> {
  const reasons: string[] = []
  let withoutNjs: Nginx | undefined
  for (const find of waysOf(options)) {
    const found = await find()
    if (typeof found === 'string') reasons.push(found)
    else if (found.njs !== undefined) return found
    else withoutNjs = found
  }
  const missing = `No NGINX was found: ${reasons.join('; ')}. This would help: ${helpfulCommand()}`
  return withoutNjs ?? { kind: 'none', describe: () => missing }
}

/**
 * `findNginx`, for callers that cannot go on without.
 * @throws {Error} what was tried and the one command that helps
 */
export async function requireNginx(options: FindOptions = {}): Promise<Nginx> {
  const found = await findNginx(options)
  if (found.kind === 'none') throw new Error(found.describe())
  return found
}

/** The line that loads njs into a configuration for this NGINX; empty if njs is compiled in or absent. */
export function loadModule(nginx: Pick<Nginx, 'njs'>): string {
  return nginx.njs?.module === undefined ? '' : `load_module "${nginx.njs.module}";`
}

/** The line for the `http` block that selects the engine found by the probe; empty for the old engine. */
export function jsEngine(nginx: Pick<Nginx, 'njs'>): string {
  return nginx.njs?.engine === 'qjs' ? 'js_engine qjs;' : ''
}

function waysOf({
  download = true,
  systemDirectories = SYSTEM_DIRECTORIES,
}: FindOptions): (() => Promise<Found>)[] {
  const path = () => findInstalled(systemDirectories)
  const unpacked = () => findUnpacked(download)
  const choice = process.env.STARTGRID_NGINX
  if (!choice) return [path, unpacked]
  if (choice === 'path') return [path]
  if (choice === 'download') return [unpacked]
  if (isAbsolute(choice)) return [() => findProgram(choice)]
  throw new Error(
    `STARTGRID_NGINX is ${JSON.stringify(choice)}, but must be path, download or the absolute path of an nginx.`,
  )
}

/** The first nginx on the PATH whose njs works. If there is none, the first one that runs. */
async function findInstalled(systemDirectories: readonly string[]): Promise<Found> {
  const directories = [...new Set([...(process.env.PATH ?? '').split(delimiter), ...systemDirectories])]
  const programs = directories.map((directory) => join(directory, 'nginx')).filter(isProgram)
  let withoutNjs: Nginx | undefined
  for (const program of programs) {
    const found = await findProgram(program)
    if (typeof found === 'string') continue
    if (found.njs !== undefined) return found
    withoutNjs ??= found
  }
  return withoutNjs ?? (programs.length === 0 ? 'no nginx on the PATH' : `${programs[0]} does not run`)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return isAbsolute(path) && statSync(path).isFile()
  } catch {
    return false
  }
}

async function findProgram(path: string): Promise<Found> {
  if (!isProgram(path)) return `${path} is not a program`
  return (await examine('path', { path, env: {} })) ?? `${path} does not run`
}

async function findUnpacked(download: boolean): Promise<Found> {
  const cache = cacheDirectory()
  const earlier = await unpackedNginx(cache)
  if (earlier === undefined && !download)
    return 'nothing was unpacked before, and downloading is switched off'
  if (earlier === undefined && !(await isDebianLike())) return 'no Debian packages on this system'
  try {
    const { binary, modules } = earlier ?? (await downloadNginx(cache))
    return (await examine('download', binary, modules)) ?? `the NGINX unpacked at ${binary.path} does not run`
  } catch (error) {
    return error instanceof Error ? error.message.replace(/\.$/, '') : String(error)
  }
}

/** One process examines each NGINX once. */
const probes = new Map<string, Promise<Probe | undefined>>()

const ORIGIN = { path: 'installed', download: "unpacked from the system's packages" }
const ENGINE = { qjs: 'QuickJS', njs: 'its old engine' }

async function examine(kind: Nginx['kind'], binary: Binary, modules?: string): Promise<Nginx | undefined> {
  const pending = probes.get(binary.path) ?? probe(binary, modules)
  probes.set(binary.path, pending)
  const probed = await pending
  if (probed === undefined) return undefined
  const { version, njs } = probed
  const engine = njs === undefined ? 'no njs' : `njs ${njs.version} on ${ENGINE[njs.engine]}`
  const text = `NGINX ${version} at ${binary.path} (${ORIGIN[kind]}; ${engine})`
  return { kind, binary, ...probed, describe: () => text }
}

function helpfulCommand(): string {
  if (process.platform === 'darwin') return 'brew install nginx'
  if (isProgram('/usr/bin/dnf')) return 'sudo dnf install nginx nginx-mod-js'
  return 'sudo apt-get install nginx libnginx-mod-http-js'
}
