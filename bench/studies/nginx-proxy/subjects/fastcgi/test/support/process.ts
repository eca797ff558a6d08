import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const PACKAGE = fileURLToPath(new URL('../..', import.meta.url))

/** An app as `pnpm start` starts it, on a free port, stopped at the end of the block. */
export async function startApp(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, ['src/server.ts', ...args], {
    cwd: PACKAGE,
    env: { ...process.env, NODE_ENV: 'production', PORT: '0', LOG_LEVEL: 'warn', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text
  })
  const output = createInterface(child.stdout).on('line', (line) => lines.push(line))
  const exited = once(child, 'close').then(([code]) => code as number | null)
  await Promise.race([once(output, 'line'), exited])
  return {
    child,
    exited,
    /** The log so far, one object per line. */
    log: () => lines.map((line) => JSON.parse(line) as Record<string, unknown>),
    errors: () => errors,
    /** Where it listens, as `node:net` and a front want it. */
    get address(): { host: string; port: number } | { socketPath: string } {
      const { address } = JSON.parse(lines[0] ?? '{}') as { address: string }
      if (address.startsWith('unix:')) return { socketPath: address.slice('unix:'.length) }
      const { hostname, port } = new URL(address)
      return { host: hostname, port: Number(port) }
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await exited
    },
  }
}
