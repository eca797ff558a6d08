import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'
import { type Probe, probe } from './probe.ts'

/** An NGINX that runs here. */
export interface Nginx extends Probe {
  readonly kind: 'path'
  /** Its program. */
  readonly path: string
  /** Where it is and what it can do, as a phrase for a report or a log line. */
  describe(): string
}

/** No NGINX was found. */
export interface NotFound {
  readonly kind: 'none'
  /** Why, and the command that helps on this machine. */
  describe(): string
}

/** Minimal PATHs (cron, some desktops) leave these out, but packages install nginx there. */
const SYSTEM_DIRECTORIES = ['/usr/local/sbin', '/usr/sbin', '/usr/local/bin', '/opt/homebrew/bin']

/**
 * Finds an installed NGINX: the first one in which njs works, or else the first one that runs, which can proxy, but not run the njs apps.
 * STARTGRID_NGINX names one.
 * @param systemDirectories looked at after the PATH
 */
export async function findNginx(systemDirectories = SYSTEM_DIRECTORIES): Promise<Nginx | NotFound> {
  const choice = process.env.STARTGRID_NGINX
  const directories = new Set([...(process.env.PATH ?? '').split(delimiter), ...systemDirectories])
  const paths = choice ? [choice] : [...directories].map((directory) => join(directory, 'nginx'))
  const programs = paths.filter(isProgram)
  let withoutNjs: Nginx | undefined
  for (const program of programs) {
    const found = await examine(program)
    if (found?.njs !== undefined) return found
    withoutNjs ??= found
  }
  const [program] = programs
  const absent = choice ? `${choice} is not a program` : 'no nginx on the PATH'
  const reason = program === undefined ? absent : `${program} does not run`
  const missing = `No NGINX was found: ${reason}. This would help: ${helpfulCommand()}`
  return withoutNjs ?? { kind: 'none', describe: () => missing }
}

/**
 * `findNginx`, for callers that cannot go on without.
 * @throws {Error} why there is none, and the one command that helps
 */
export async function requireNginx(): Promise<Nginx> {
  const found = await findNginx()
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

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return isAbsolute(path) && statSync(path).isFile()
  } catch {
    return false
  }
}

/** One process examines each NGINX once. */
const probes = new Map<string, Promise<Probe | undefined>>()

const ENGINE = { qjs: 'QuickJS', njs: 'its old engine' }

async function examine(path: string): Promise<Nginx | undefined> {
  const pending = probes.get(path) ?? probe(path)
  probes.set(path, pending)
  const probed = await pending
  if (probed === undefined) return undefined
  const { version, njs } = probed
  const engine = njs === undefined ? 'no njs' : `njs ${njs.version} on ${ENGINE[njs.engine]}`
  const text = `NGINX ${version} at ${path} (${engine})`
  return { kind: 'path', path, ...probed, describe: () => text }
}

function helpfulCommand(): string {
  if (process.platform === 'darwin') return 'brew install nginx'
  if (isProgram('/usr/bin/dnf')) return 'sudo dnf install nginx nginx-mod-js'
  return 'sudo apt-get install nginx libnginx-mod-http-js'
}
