import { mkdtempDisposableSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startNode } from '@startgrid/cli/test-programs.ts'

export const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url))

/** Runs `pnpm eject` without pnpm, which tells a script where it was typed. */
export function runEject(args: readonly string[]) {
  const { INIT_CWD: _, ...env } = process.env
  return startNode([CLI, ...args], { env }).ended
}

/** A directory outside of the workspace, gone at the end of the block. */
export function temporaryDirectory() {
  return mkdtempDisposableSync(join(realpathSync(tmpdir()), 'eject-'))
}
