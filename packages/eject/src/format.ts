import { fileURLToPath } from 'node:url'
import { run } from './run.ts'

const BIOME = fileURLToPath(new URL('../../../node_modules/.bin/biome', import.meta.url))

/**
 * Formats a project and sorts its imports with the project's own configuration.
 * @throws {RunError} if the linter finds a problem, because then the project is not usable
 */
export async function format(directory: string, signal: AbortSignal): Promise<void> {
  await run(BIOME, ['check', '--write', '--error-on-warnings', '--colors=off'], { cwd: directory, signal })
}
