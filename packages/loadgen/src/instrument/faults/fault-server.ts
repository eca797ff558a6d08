import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { CapacitySettings } from './capacity.ts'
import type { ChunksSettings } from './chunks.ts'
import type { DelaySettings } from './delay.ts'
import type { EveryNthSettings } from './every-nth.ts'
import type { Did, FromFault } from './fault-process.ts'
import type { FreezeSettings } from './freeze.ts'
import type { TrickleSettings } from './trickle.ts'

/** What each file of this directory is told. */
interface SettingsOf {
  'accept-close': Record<string, never>
  'at-once': Record<string, never>
  capacity: CapacitySettings
  chunks: ChunksSettings
  delay: DelaySettings
  'every-nth': EveryNthSettings
  freeze: FreezeSettings
  'plain-http': Record<string, never>
  trickle: TrickleSettings
}

/** A server with built-in behaviour, in a process of its own: it shares no event loop with the generator. */
export class FaultServer implements AsyncDisposable {
  readonly port: number
  readonly pid: number
  readonly #child: ChildProcess

  /** Use `startFault`. */
  constructor(child: ChildProcess, pid: number, port: number) {
    this.#child = child
    this.pid = pid
    this.port = port
  }

  get target(): { host: string; port: number } {
    return { host: '127.0.0.1', port: this.port }
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/`
  }

  /** What it did so far. */
  async did(): Promise<Did> {
    this.#child.send('did')
    const message = await next(this.#child)
    if ('did' in message) return message.did
    throw new Error('the server replied out of turn')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null) return
    const exited = once(this.#child, 'exit')
    this.#child.disconnect()
    await exited
  }
}

/** Starts one file of this directory. @param cpu the only core that it may use: with `taskset`, so on Linux only */
export async function startFault<Name extends keyof SettingsOf>(
  name: Name,
  settings: SettingsOf[Name],
  { cpu }: { cpu?: number } = {},
): Promise<FaultServer> {
  const file = fileURLToPath(new URL(`${name}.ts`, import.meta.url))
  const pinned = { execPath: 'taskset', execArgv: ['-c', String(cpu), process.execPath] }
  const child = fork(file, [JSON.stringify(settings)], cpu === undefined ? { execArgv: [] } : pinned)
  const message = await next(child)
  if (!('port' in message) || child.pid === undefined) throw new Error(`${name} did not start`)
  return new FaultServer(child, child.pid, message.port)
}

/** The child's next message, or an error if it ends first. */
function next(child: ChildProcess): Promise<FromFault> {
  const { promise, resolve, reject } = Promise.withResolvers<FromFault>()
  const ended = () => reject(new Error(`the server ended: ${child.spawnargs.join(' ')}`))
  child.once('exit', ended)
  child.once('message', (message) => {
    child.off('exit', ended)
    resolve(message as FromFault)
  })
  return promise
}
