import { spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { UsageError } from '@startgrid/cli/arguments.ts'
import { FRAMEWORKS } from '@startgrid/grid/apps.ts'
import { dockerObstacle } from '@startgrid/grid/compose-project.ts'
import type { ComposeFile } from './project.ts'

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))

/** What Docker refused; the message is a sentence with its own last line. */
export class DockerError extends Error {
  override name = 'DockerError'
}

interface Ended {
  /** Null if it was killed: by an abort, or because its time was up. */
  code: number | null
  stdout: string
  stderr: string
}

interface CommandOptions {
  /** An abort ends the command. */
  signal?: AbortSignal | undefined
  /** Milliseconds until it is killed; default a minute. */
  limitMs?: number
}

/**
 * Runs `docker` in the repository, whatever its exit code, in a process group of its own: a Ctrl-C is this process's business, which still
 * has to clear up.
 * @throws {DockerError} if there is no such command
 */
export async function runDocker(
  args: readonly string[],
  { signal, limitMs = 60_000 }: CommandOptions = {},
): Promise<Ended> {
  const child = spawn('docker', args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  const kill = () => killGroup(child.pid)
  const ending = AbortSignal.any([AbortSignal.timeout(limitMs), ...(signal ? [signal] : [])])
  if (ending.aborted) kill()
  ending.addEventListener('abort', kill, { once: true })
  try {
    const [[code], stdout, stderr] = await Promise.all([
      once(child, 'close'),
      text(child.stdout as Readable),
      text(child.stderr as Readable),
    ])
    return { code: code as number | null, stdout, stderr }
  } catch (error) {
    throw new DockerError(`docker cannot be started: ${(error as Error).message}.`)
  } finally {
    ending.removeEventListener('abort', kill)
  }
}

/** Compose is a child of the command. */
function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGTERM')
  } catch {
    // It has just ended.
  }
}

/**
 * Runs `docker`, which must succeed.
 * @returns its standard output
 * @throws {DockerError} with its last line
 */
export async function docker(args: readonly string[], options: CommandOptions = {}): Promise<string> {
  const { code, stdout, stderr } = await runDocker(args, options)
  if (code === 0) return stdout
  const why = code === null ? 'it did not end in time' : lastLine(stderr) || `it ended with exit code ${code}`
  throw new DockerError(`docker ${args[0]} failed: ${why}`)
}

/** Where programs say what was wrong. */
export function lastLine(output: string): string {
  return output.trim().split('\n').at(-1)?.trim() ?? ''
}

/** With all services: those of other profiles than the chosen ones do not exist for Compose. */
export const ALL_PROFILES: readonly string[] = [...FRAMEWORKS, 'bench'].flatMap((name) => ['--profile', name])

/** The first with `start_interval` in healthchecks (https://docs.docker.com/compose/releases/release-notes/). */
const LEAST_COMPOSE = [2, 20] as const

/** @throws {UsageError} with a sentence if there is no engine, no Compose, or too old a one */
export async function requireDocker(): Promise<void> {
  const obstacle = await dockerObstacle()
  if (obstacle !== undefined) throw new UsageError(`--docker cannot be used here. ${obstacle}`)
  const version = (await docker(['compose', 'version', '--short'])).trim()
  if (isOlder(version))
    throw new UsageError(
      `Docker Compose is ${version}, but --docker needs ${LEAST_COMPOSE.join('.')} or newer: update it.`,
    )
}

/** Whether it is older than the first that will do. @param version such as `2.26.1-4` or `v2.30.0` */
export function isOlder(version: string): boolean {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number)
  return major < LEAST_COMPOSE[0] || (major === LEAST_COMPOSE[0] && minor < LEAST_COMPOSE[1])
}

/** docker-compose.yml with everything resolved. @throws {DockerError} if Compose refuses it */
export async function readComposeFile(): Promise<ComposeFile> {
  return JSON.parse(await docker(['compose', ...ALL_PROFILES, 'config', '--format', 'json'])) as ComposeFile
}
