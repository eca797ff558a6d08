import { type AppSource, ejectTree } from './eject-tree.ts'
import { writeLockfile } from './lockfile.ts'
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
  /** Whether npm writes a lockfile, for which it asks its registry. */
  lockfile: boolean
  /** Aborts, and removes everything that was written. */
  signal: AbortSignal
}

export interface Created {
  name: string
  /** Whether `npm run build` comes before `npm test` and `npm start`. */
  hasBuild: boolean
  /** How many files it has. */
  files: number
  /** Why there is no lockfile although there should be one: half a sentence. */
  unlocked: string | undefined
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
  lockfile,
  signal,
}: ProjectOptions): Promise<Created> {
  const files = ejectTree(source, { name, options })
  let unlocked: string | undefined
  let commit: Commit | undefined
  await stage(target, async (directory) => {
    await writeFiles(directory, files)
    if (lockfile) unlocked = await writeLockfile(directory, signal)
    if (git) commit = await createRepository(directory, signal)
    signal.throwIfAborted()
  })
  return { name, hasBuild: source.project.hasBuild, files: files.size, unlocked, commit }
}
