import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Claim, endProcesses } from './processes.ts'

/** What must not outlive a run: a process group with all that it started, or a directory. */
export type Guarded = { group: number; claim?: Claim } | { directory: string }

/** What a process of a run has in its environment, so that it is found even after it left its group. */
export const MARK = 'STARTGRID_LAUNCH'

const PROGRAM = fileURLToPath(new URL(`guard-process${extname(import.meta.url)}`, import.meta.url))

/**
 * Ends what a run started when the run ends, even by `kill -9`: a process of its own, which notices that its pipe is closed. It is in
 * another session, so that Ctrl-C does not reach it.
 */
export class Guard {
  /** The first part of the marks of all launches of this run. */
  readonly run = randomUUID()
  readonly #child: ChildProcess
  readonly #exited: Promise<unknown>
  readonly #guarded = new Map<string, Guarded>()

  constructor() {
    this.#child = spawn(process.execPath, [PROGRAM, this.run], {
      detached: true,
      stdio: ['pipe', 'ignore', 'inherit'],
    })
    this.#exited = once(this.#child, 'exit')
    this.#child.stdin?.on('error', () => {}) // it was killed: then nobody guards
  }

  add(one: Guarded): void {
    const text = JSON.stringify(one)
    this.#guarded.set(text, one)
    this.#child.stdin?.write(`+${text}\n`)
  }

  /** It has been ended, or removed, in an orderly way. */
  remove(one: Guarded): void {
    const text = JSON.stringify(one)
    this.#guarded.delete(text)
    this.#child.stdin?.write(`-${text}\n`)
  }

  /** Ends and removes what is left. Resolves when that is done. */
  async close(): Promise<void> {
    const left = [...this.#guarded.values()]
    await clearUp(this.run, left)
    for (const one of left) this.remove(one)
    this.#child.stdin?.end()
    await this.#exited
  }
}

/** Ends and removes what a run left. */
export async function clearUp(run: string, left: readonly Guarded[]): Promise<void> {
  const launches = left.filter((one) => 'group' in one)
  const groups = launches.map(({ group }) => group)
  const claims = launches.flatMap(({ claim }) => claim ?? [])
  await endProcesses({ groups, mark: `${MARK}=${run}.`, claims }, 0)
  for (const one of left)
    if ('directory' in one) rmSync(one.directory, { recursive: true, force: true, maxRetries: 3 })
}
