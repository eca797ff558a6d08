import type { App } from '@startgrid/grid/matrix.ts'
import { ejectTree } from './eject-tree.ts'
import { type Commit, createRepository } from './repository.ts'
import { readSource } from './source.ts'
import { stage, writeFiles } from './staging.ts'

export interface EjectOptions {
  app: App
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

export interface Ejected {
  name: string
  /** Whether `npm run build` comes before `npm test` and `npm start`. */
  hasBuild: boolean
  /** How many files it has. */
  files: number
  /** Undefined if there is no repository. */
  commit: Commit | undefined
}

/**
 * Makes a standalone project of one app.
 * @throws {EjectError} for errors that the person can fix, `AbortError` if aborted; after any error nothing is left behind
 */
export async function eject({
  app,
  target,
  name,
  options = [],
  git,
  signal,
}: EjectOptions): Promise<Ejected> {
  const source = await readSource(app, signal)
  const files = ejectTree(source, { name, options })
  let commit: Commit | undefined
  await stage(target, async (directory) => {
    await writeFiles(directory, files)
    if (git) commit = await createRepository(directory, signal)
    signal.throwIfAborted()
  })
  return { name, hasBuild: source.project.hasBuild, files: files.size, commit }
}
