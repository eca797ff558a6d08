import { UsageError } from '@startgrid/cli/arguments.ts'
import { FRAMEWORKS } from '@startgrid/grid/apps.ts'
import { dockerObstacle } from '@startgrid/grid/compose-project.ts'
import { docker } from './command.ts'
import type { ComposeFile } from './project.ts'

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
