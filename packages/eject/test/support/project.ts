import { ok } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { claimPort } from '@startgrid/nginx/address.ts'
import { personalEnvironment } from './environment.ts'

export type PackageManager = 'npm' | 'pnpm'

const COMMANDS: Readonly<Record<PackageManager, readonly string[]>> = {
  npm: ['npm'],
  pnpm: ['npx', '--yes', 'pnpm@12'],
}

/** npm installs the same packages, but does not ask the registry for known weaknesses. */
const QUICK_INSTALL = {
  npm_config_audit: 'false',
  npm_config_fund: 'false',
}

/** A project as the person sees it who types commands in its directory. */
export class ProjectDirectory {
  readonly #path: string
  readonly #command: readonly string[]
  readonly #node: string

  /** @param node the directory of the Node that everything runs on */
  constructor(path: string, packageManager: PackageManager, node = dirname(process.execPath)) {
    this.#path = path
    this.#command = COMMANDS[packageManager]
    this.#node = node
  }

  /** Runs `npm ARGS` to its end. @throws {Error} with all that it said, unless the exit code is 0 */
  async run(...args: readonly string[]): Promise<void> {
    const { child, output } = this.#spawn(args, {})
    const [code] = await once(child, 'close')
    if (code !== 0)
      throw new Error(`${this.#command.join(' ')} ${args.join(' ')} ends with ${code}:\n${output()}`)
  }

  /** Runs `npm start`, or `npm ARGS`, on a free port until it is ready. */
  async start(...args: readonly string[]) {
    // NGINX cannot be asked to pick one.
    const port = await claimPort({ host: '127.0.0.1', port: 0 })
    const { child, output } = this.#spawn(args.length > 0 ? args : ['start'], {
      PORT: String(port),
      LOG_LEVEL: 'warn',
      MAX_QUEUE_WAIT_MS: '0', // no page is refused because the machine is busy
    })
    const exited = once(child, 'close')
    for (let tries = 0; !(await isReady(port)); tries++) {
      ok(child.exitCode === null && tries < 600, `It is not ready: ${output()}`)
      await sleep(100)
    }
    return {
      target: { host: '127.0.0.1', port },
      url: `http://127.0.0.1:${port}`,
      /** As Ctrl-C in a terminal: every process of the group gets the signal. Resolves when none is left. */
      stop: async () => {
        if (child.pid === undefined) return
        signalGroup(child.pid, 'SIGINT')
        await exited
        while (signalGroup(child.pid, 0)) await sleep(50)
      },
    }
  }

  #spawn(args: readonly string[], env: Record<string, string>) {
    const [file = '', ...first] = this.#command
    const child = spawn(file, [...first, ...args], {
      cwd: this.#path,
      env: { ...personalEnvironment(this.#node), CI: 'true', ...QUICK_INSTALL, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
      })
    }
    return { child, output: () => output }
  }
}

async function isReady(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/readyz`)).ok
  } catch {
    return false
  }
}

/** @returns whether there was anybody */
function signalGroup(pid: number, signal: 'SIGINT' | 0): boolean {
  try {
    return process.kill(-pid, signal)
  } catch {
    return false
  }
}
