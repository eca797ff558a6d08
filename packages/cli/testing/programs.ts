import { type ChildProcessByStdio, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'

/** The programs that tests run: scripts in a Node of their own, and a browser; and what goes with a test. */

/** A test, or the hooks of a file. */
interface Context {
  after(work: () => void): void
}

export function newDirectory(context: Context): string {
  const path = mkdtempSync(join(tmpdir(), 'startgrid-test-'))
  context.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** @returns the port at 127.0.0.1 on which it listens until the test is over */
export async function listen(
  context: Context,
  server: Server & { closeAllConnections?(): void },
): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  context.after(() => server.close().closeAllConnections?.())
  return (server.address() as AddressInfo).port
}

/** How a program ended, with all that it printed. */
export interface Ended {
  /** Null if a signal ended it. */
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface TestProgram {
  readonly child: ChildProcessByStdio<null, Readable, Readable>
  /** What it has printed so far. */
  stdout(): string
  stderr(): string
  readonly ended: Promise<Ended>
}

/** Starts a program. The environment lacks what tells Node that it runs below a test runner. */
export function startProgram(
  file: string,
  args: readonly string[],
  { env = process.env, ...options }: Pick<SpawnOptions, 'cwd' | 'env' | 'detached'> = {},
): TestProgram {
  const { NODE_TEST_CONTEXT: _, ...rest } = env
  const child = spawn(file, args, { ...options, env: rest, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text
    })
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, ...output }))
  return { child, stdout: () => output.stdout, stderr: () => output.stderr, ended }
}

/** Starts Node with a script and its arguments. */
export function startNode(
  args: readonly string[],
  options?: Parameters<typeof startProgram>[2],
): TestProgram {
  return startProgram(process.execPath, args, options)
}

/** Debian's headless shell first: it draws no window, and opens eight pages for a third of the processor time. Undefined if none is installed. */
const CHROMIUM = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']
  .map((name) => `/usr/bin/${name}`)
  .find(existsSync)

/** The path of the browser; tests are skipped with `skip` where there is none. */
export const BROWSER = {
  executablePath: CHROMIUM ?? '',
  skip: CHROMIUM === undefined && 'no Chromium: sudo apt-get install chromium',
} as const
