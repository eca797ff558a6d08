import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { LoadError } from '@startgrid/loadgen'
import { waitSeconds } from '@startgrid/machine/processes.ts'
import type { SlicePlan } from './driver.ts'

/** wrk ignores an interruption until its threads run, moments after it said that it is ready. */
const SETTLE_MS = 100

/** On a busy machine its threads may not run yet. Then the interruption is lost, and wrk would go on to the end of its own time. */
const AGAIN_MS = 2_000

/** One run of wrk with wrk.lua, which is interrupted when its time is over. */
export class WrkProcess {
  /** Of all threads, up to its interruption; null before it, and where the system does not tell. */
  waitSeconds: number | null = null
  readonly #child: ChildProcessByStdio<null, Readable, Readable>
  readonly #timing: Pick<SlicePlan, 'durationMs' | 'signal'>
  readonly #timers: NodeJS.Timeout[] = []
  #isPrinting = false

  constructor(
    [program, ...args]: readonly [string, ...string[]],
    timing: Pick<SlicePlan, 'durationMs' | 'signal'>,
  ) {
    this.#timing = timing
    this.#child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    // The first thing that the script says: the load begins.
    this.#child.stdout.once('data', () => {
      this.#began()
      this.#child.stdout.once('data', () => {
        this.#isPrinting = true
      })
    })
  }

  /**
   * Waits for its end.
   * @returns what it printed
   * @throws {LoadError} if it cannot be started, or did not run to its end
   */
  async output(): Promise<string> {
    const [output, complaints] = [collect(this.#child.stdout), collect(this.#child.stderr)]
    try {
      const [code, signal] = await once(this.#child, 'close')
      if (code === 0) return output()
      const [reason] = complaints().split('\n')
      throw new LoadError(`wrk failed: ${reason || `it ended with ${signal ?? `exit code ${code}`}`}.`)
    } catch (error) {
      if (error instanceof LoadError) throw error
      throw new LoadError(`wrk cannot be started: ${(error as Error).message}.`)
    } finally {
      for (const timer of this.#timers) clearTimeout(timer)
      this.#timing.signal?.removeEventListener('abort', this.#abort)
    }
  }

  /** Ends it at once, without a result. */
  kill(): void {
    this.#child.kill('SIGKILL')
  }

  #began(): void {
    const { durationMs, signal } = this.#timing
    this.#interruptAfter(durationMs)
    if (signal?.aborted) this.#abort()
    signal?.addEventListener('abort', this.#abort, { once: true })
  }

  readonly #abort = (): void => this.#interruptAfter(SETTLE_MS)

  #interruptAfter(milliseconds: number): void {
    this.#timers.push(setTimeout(() => this.#interrupt(), milliseconds))
  }

  #interrupt(): void {
    const { pid } = this.#child
    // It prints its result when it ends, and a second interruption could cut that.
    if (pid === undefined || this.#isPrinting) return
    this.waitSeconds ??= waitSeconds([pid]) ?? null
    this.#child.kill('SIGINT')
    this.#interruptAfter(AGAIN_MS)
  }
}

function collect(stream: Readable): () => string {
  let text = ''
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  return () => text
}

/** @throws {LoadError} if it is not installed, with the command that helps */
export function wrkVersion(): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  // It prints its version and its usage, and exits with 1.
  execFile('wrk', ['-v'], (_error, output) => {
    const version = /^wrk (\S+)/.exec(output)?.[1]
    if (version !== undefined) resolve(version)
    else reject(new LoadError(`wrk is not installed: ${helpfulCommand()}.`))
  })
  return promise
}

function helpfulCommand(): string {
  return process.platform === 'darwin' ? 'brew install wrk' : 'sudo apt-get install wrk (Debian, Ubuntu)'
}
