import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** `src/server.ts` in a process of its own. */
export interface Running {
  child: ChildProcess
  /** The first line on standard output. */
  started: Record<string, unknown>
  address: string
  /** The later lines. */
  lines: Record<string, unknown>[]
  ended: Promise<{ code: number | null; errors: string }>
}

export type Env = Record<string, string>

/** Starts an app and waits for its first line, or for its end. */
export async function start(role: string | undefined, env: Env = {}): Promise<Running> {
  const server = join(import.meta.dirname, '../src/server.ts')
  const child = spawn(process.execPath, role === undefined ? [server] : [server, role], {
    env: { ...process.env, HOST: '127.0.0.1', PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = watch(child)
  const lines: Record<string, unknown>[] = []
  const output = createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line)))
  await Promise.race([once(output, 'line'), ended])
  const started = lines.shift() ?? {}
  return { child, started, address: String(started.address), lines, ended }
}

/** Runs an app that cannot start. */
export async function fail(
  role: string | undefined,
  env: Env,
): Promise<{ code: number | null; errors: string }> {
  return (await start(role, env)).ended
}

async function watch(child: ChildProcess): Promise<{ code: number | null; errors: string }> {
  let errors = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  const [code] = await once(child, 'close')
  return { code, errors }
}
