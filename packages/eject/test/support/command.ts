import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url))

export interface Options {
  cwd?: string
  env?: NodeJS.ProcessEnv
}

/** Starts `pnpm eject` without pnpm. */
export function startEject(args: readonly string[], { cwd, env = process.env }: Options = {}) {
  const { INIT_CWD: _, NODE_TEST_CONTEXT: __, ...rest } = env
  const child = spawn(process.execPath, [CLI, ...args], { cwd, env: rest, stdio: ['ignore', 'pipe', 'pipe'] })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, stdout, stderr }))
  return { child, ended }
}

export function runEject(args: readonly string[], options?: Options) {
  return startEject(args, options).ended
}
