import { type AppSource, ejectTree } from './eject-tree.ts'
import { type Commit, createRepository } from './repository.ts'
import { stage, writeFiles } from './staging.ts'

export interface ProjectOptions {
  source: AppSource
  /** From `resolveTarget`. */
  target: string
  /** An npm name. */
  name: string
  /** Names of options: `--with telemetry`. */
  options?: readonly string[]
  /** Whether to create a git repository. */
  git: boolean
  /** Aborts, and removes everything that was written. */
  signal: AbortSignal
}

export interface Created {
  name: string
  /** Whether `npm run build` comes before `npm test` and `npm start`. */
  hasBuild: boolean
  /** How many files it has. */
  files: number
  /** Undefined if there is no repository. */
  commit: Commit | undefined
}

/**
 * Makes a project of what is known of an app.
 * @throws {EjectError} for errors that the person can fix, `AbortError` if aborted; after any error nothing is left behind
 */
export async function createProject({
  source,
  target,
  name,
  options = [],
  git,
  signal,
}: ProjectOptions): Promise<Created> {
  const files = ejectTree(source, { name, options })
  let commit: Commit | undefined
  await stage(target, async (directory) => {
    await writeFiles(directory, files)
    if (git) commit = await createRepository(directory, signal)
    signal.throwIfAborted()
  })
  return { name, hasBuild: source.project.hasBuild, files: files.size, commit }
}
