import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'

interface Running {
  child: ChildProcess
  url: string
  /** What it has written to standard output. */
  lines: Record<string, unknown>[]
  ended: Promise<{ code: number | null; errors: string }>
  /** @returns the exit code */
  stop(): Promise<number | null>
}

/** `src/server.ts` in a process of its own. It resolves when the app listens, or has ended. */
export async function start(role: string, env: Record<string, string> = {}): Promise<Running> {
  const server = join(import.meta.dirname, '../src/server.ts')
  const child = spawn(process.execPath, [server, role], {
    env: { ...process.env, HOST: '127.0.0.1', PORT: '0', MAX_QUEUE_WAIT_MS: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const errors = text(child.stderr)
  const ended = once(child, 'close').then(async ([code]) => ({ code, errors: await errors }))
  const lines: Record<string, unknown>[] = []
  const output = createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line)))
  await Promise.race([once(output, 'line'), ended])
  const stop = async () => {
    child.kill('SIGTERM')
    return (await ended).code
  }
  return { child, url: String(lines[0]?.address), lines, ended, stop }
}
