import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { extname } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { canPin } from './cores.ts'

const CHILD = fileURLToPath(new URL(`spin-process${extname(import.meta.url)}`, import.meta.url))

/**
 * The same work of about 2 ms again and again, on one core, in a process of its own. Its CPU time says how fast the core is just now. A neighbour on
 * the same physical core slows it, and no account of the kernel shows that.
 */
export class Spinner {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>
  readonly #lines: Interface
  readonly #ended: Promise<null>
  /** Rounds of a spin: about as many as took 2 ms when it was calibrated. 0 if the process ended before. */
  rounds = 0

  private constructor(child: ChildProcessByStdio<Writable, Readable, null>) {
    this.#child = child
    // It ended: then nothing more is known.
    child.stdin.on('error', () => {})
    this.#lines = createInterface({ input: child.stdout })
    this.#ended = once(child, 'close').then(
      () => null,
      () => null,
    )
  }

  /** Resolves when it is calibrated, which takes about 0.2 s. @param cpu the core; it runs anywhere if processes cannot be pinned */
  static async start(cpu: number | null): Promise<Spinner> {
    const pinned = cpu !== null && canPin() ? ['taskset', '-c', String(cpu)] : []
    const [command = process.execPath, ...args] = [...pinned, process.execPath, CHILD]
    const spinner = new Spinner(spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] }))
    spinner.rounds = Number((await spinner.#nextLine()) ?? 0)
    return spinner
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  /** Spins once. @returns its CPU time, which says how fast the core was; null if the process has ended */
  async spin(): Promise<{ cpuSeconds: number } | null> {
    this.#child.stdin.write('spin\n')
    const line = await this.#nextLine()
    return line === null ? null : { cpuSeconds: Number(line) }
  }

  /** Ends the process; resolves when it is gone. */
  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    this.#child.stdin.end()
    await this.#ended
  }

  async #nextLine(): Promise<string | null> {
    if (this.#child.exitCode !== null) return null
    const given = new AbortController()
    const line = once(this.#lines, 'line', { signal: given.signal }).then(
      ([text]: string[]) => text ?? null,
      () => null,
    )
    return Promise.race([line, this.#ended]).finally(() => given.abort())
  }
}
