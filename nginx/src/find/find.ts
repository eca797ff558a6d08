import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import type { Binary } from './binary.ts'
import { cacheDirectory } from './cache.ts'
import { dockerObstacle, IMAGE } from './docker.ts'
import { downloadNginx, isDebianLike, unpackedNginx } from './download.ts'
import { type Njs, type Probe, probe, type Tls } from './probe.ts'

export type { Njs } from './probe.ts'

/** An NGINX that runs here. */
export interface Nginx {
  /** `path`: installed on this machine; `docker`: the official image; `download`: unpacked packages. */
  readonly kind: 'path' | 'docker' | 'download'
  readonly version: string
  readonly njs: Njs | undefined
  readonly keepaliveMinTimeout: boolean
  readonly tls: Tls
  readonly binary: Binary
  /** Where it comes from and what it can do, as a phrase for a report or a log line. */
  describe(): string
}

/** No NGINX was found. */
export interface NotFound {
  readonly kind: 'none'
  /** Why each attempt failed, in order. */
  readonly reasons: readonly string[]
  /** The command that helps on this machine. */
  readonly help: string
  describe(): string
}

/** `path`, `docker`, `download`, or the absolute path of an nginx program. */
export type Choice = 'path' | 'docker' | 'download' | `/${string}`

export interface FindOptions {
  /** Only this one is tried. Default: STARTGRID_NGINX; without it, all in order. */
  readonly choice?: string
  /** Whether packages or an image may be downloaded; default true. What an earlier run unpacked is used anyway. */
  readonly download?: boolean
  /** For PATH, STARTGRID_NGINX and XDG_CACHE_HOME; default this process's. */
  readonly env?: NodeJS.ProcessEnv
  /** Looked at after the PATH. */
  readonly systemDirectories?: readonly string[]
}

/** Minimal PATHs (cron, some desktops) leave these out, but packages install nginx there. */
const SYSTEM_DIRECTORIES = ['/usr/local/sbin', '/usr/sbin', '/usr/local/bin', '/opt/homebrew/bin']

type Found = Nginx | string

/**
 * Finds an NGINX in which njs works. It tries an installed one, the official image on Docker, and one unpacked from the distribution's
 * packages. The last resort is an installed NGINX without njs: it can proxy, but not run the njs apps.
 * @throws {Error} if the choice is not a `Choice`
 */
export async function findNginx(options: FindOptions = {}): Promise<Nginx | NotFound> {
  const env = options.env ?? process.env
  const download = options.download ?? true
  const choice = options.choice ?? (env.STARTGRID_NGINX || undefined)
  if (choice !== undefined) {
    const found = await findChosen(readChoice(choice), { ...options, download, env })
    return typeof found === 'string' ? notFound([found]) : found
  }
  const installed = await findInstalled(env, options.systemDirectories)
  if (typeof installed !== 'string' && installed.njs !== undefined) return installed
  const reasons = [typeof installed === 'string' ? installed : `${installed.describe()} has no working njs`]
  for (const find of [() => findImage(download), () => findUnpacked(download, env)]) {
    const found = await find()
    if (typeof found !== 'string') return found
    reasons.push(found)
  }
  return typeof installed === 'string' ? notFound(reasons) : installed
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

function readChoice(choice: string): Choice {
  if (choice === 'path' || choice === 'docker' || choice === 'download') return choice
  if (isAbsolute(choice)) return choice as `/${string}`
  throw new Error(
    `STARTGRID_NGINX is ${JSON.stringify(choice)}, but must be path, docker, download or the absolute path of an nginx.`,
  )
}

function findChosen(
  choice: Choice,
  { env, download, systemDirectories }: FindOptions & { env: NodeJS.ProcessEnv; download: boolean },
): Promise<Found> {
  if (choice === 'path') return findInstalled(env, systemDirectories)
  if (choice === 'docker') return findImage(download)
  if (choice === 'download') return findUnpacked(download, env)
  return findProgram(choice)
}

/** The first nginx on the PATH whose njs works. If there is none, the first one that runs. */
async function findInstalled(
  env: NodeJS.ProcessEnv,
  systemDirectories: readonly string[] = SYSTEM_DIRECTORIES,
): Promise<Found> {
  const directories = [...new Set([...(env.PATH ?? '').split(delimiter), ...systemDirectories])]
  const programs = directories.map((directory) => join(directory, 'nginx')).filter(isProgram)
  let withoutNjs: Nginx | undefined
  for (const program of programs) {
    const found = await findProgram(program)
    if (typeof found === 'string') continue
    if (found.njs !== undefined) return found
    withoutNjs ??= found
  }
  if (withoutNjs !== undefined) return withoutNjs
  return programs.length === 0 ? 'no nginx on the PATH' : `${programs[0]} does not run`
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
  const binary = { type: 'native', path, env: {} } as const
  const probed = await probeOnce(binary)
  return probed === undefined ? `${path} does not run` : describe('path', path, binary, probed)
}

async function findImage(download: boolean): Promise<Found> {
  const obstacle = await dockerObstacle(IMAGE, download)
  if (obstacle !== undefined) return obstacle
  const binary = { type: 'image', image: IMAGE } as const
  const probed = await probeOnce(binary)
  // Docker's engine is probably on another machine, and cannot see our files.
  if (probed?.njs === undefined) return `${IMAGE} does not run njs on the Docker engine`
  return describe('docker', `in Docker image ${IMAGE}`, binary, probed)
}

async function findUnpacked(download: boolean, env: NodeJS.ProcessEnv): Promise<Found> {
  const cache = cacheDirectory(env)
  const earlier = await unpackedNginx(cache)
  if (earlier === undefined && !download)
    return 'nothing was unpacked before, and downloading is switched off'
  if (earlier === undefined && !(await isDebianLike())) return 'no Debian packages on this system'
  try {
    const unpacked = earlier ?? (await downloadNginx(cache))
    const probed = await probeOnce(unpacked.binary, [unpacked.modules])
    if (probed === undefined) return `the NGINX unpacked at ${unpacked.binary.path} does not run`
    return describe('download', unpacked.binary.path, unpacked.binary, probed)
  } catch (error) {
    return error instanceof Error ? error.message.replace(/\.$/, '') : String(error)
  }
}

/** One process probes each NGINX once: with Docker a probe takes seconds. */
const probes = new Map<string, Promise<Probe | undefined>>()

function probeOnce(binary: Binary, moduleDirectories: readonly string[] = []): Promise<Probe | undefined> {
  const key = binary.type === 'image' ? `image ${binary.image}` : binary.path
  const known = probes.get(key) ?? probe(binary, moduleDirectories)
  probes.set(key, known)
  return known
}

const ORIGIN = { path: 'installed', docker: 'host network', download: "unpacked from the system's packages" }

function describe(kind: Nginx['kind'], place: string, binary: Binary, probed: Probe): Nginx {
  const { version, njs } = probed
  const engine = njs === undefined ? 'no njs' : `njs ${njs.version} on ${ENGINE[njs.engine]}`
  const at = kind === 'docker' ? place : `at ${place}`
  return { kind, binary, ...probed, describe: () => `NGINX ${version} ${at} (${ORIGIN[kind]}; ${engine})` }
}

const ENGINE = { qjs: 'QuickJS', njs: 'its old engine' }

function notFound(reasons: readonly string[]): NotFound {
  const help = helpfulCommand()
  const describe = () => `No NGINX was found: ${reasons.join('; ')}. This would help: ${help}`
  return { kind: 'none', reasons, help, describe }
}

function helpfulCommand(): string {
  if (process.platform === 'darwin') return 'brew install nginx'
  if (isProgram('/usr/bin/apt-get')) return 'sudo apt-get install nginx libnginx-mod-http-js'
  if (isProgram('/usr/bin/dnf')) return 'sudo dnf install nginx nginx-mod-js'
  return `docker pull ${IMAGE}`
}
