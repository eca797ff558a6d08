import { fileURLToPath } from 'node:url'
import { startNode } from '@startgrid/cli/test-programs.ts'

const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url))

export interface Options {
  cwd?: string
  env?: NodeJS.ProcessEnv
}

/** Starts `pnpm eject` without pnpm. */
export function startEject(args: readonly string[], { cwd, env = process.env }: Options = {}) {
  const { INIT_CWD: _, ...rest } = env
  return startNode([CLI, ...args], { cwd, env: rest })
}

export function runEject(args: readonly string[], options?: Options) {
  return startEject(args, options).ended
}
