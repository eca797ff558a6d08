import type { Role } from '@startgrid/grid/apps.ts'
import { type AppSource, ejectTree } from './eject-tree.ts'
import { writeLockfile } from './lockfile.ts'
import { createRepository } from './repository.ts'
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
  /** `src/ssr.ts` has its routes. */
  role: Role
  /** How many files it has. */
  files: number
  /** Whether it has a lockfile. */
  locked: boolean
  /** Why there is no lockfile although there should be one: half a sentence. */
  unlocked: string | undefined
  /** False if git does not know the author of the first commit. */
  known: boolean
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
  const files = ejectTree(source, { name, options, lockfile })
  let unlocked: string | undefined
  let known = true
  await stage(target, async (directory) => {
    await writeFiles(directory, files)
    if (lockfile) unlocked = await writeLockfile(directory, signal)
    if (unlocked !== undefined)
      await writeFiles(directory, ejectTree(source, { name, options, lockfile: false }))
    if (git) known = await createRepository(directory, signal)
    signal.throwIfAborted()
  })
  const locked = lockfile && unlocked === undefined
  return { name, role: source.project.role, files: files.size, locked, unlocked, known }
}
