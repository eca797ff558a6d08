import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What must not outlive a run: a process group with all that it started, or a directory (of a repository, if it is a worktree of one). */
export type Guarded = { group: number } | { directory: string; repository?: string }

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

  constructor() {
    this.#child = spawn(process.execPath, [PROGRAM, this.run], {
      detached: true,
      stdio: ['pipe', 'ignore', 'inherit'],
    })
    this.#child.stdin?.on('error', () => {}) // it was killed: then nobody guards
  }

  add(one: Guarded): void {
    this.#child.stdin?.write(`+${JSON.stringify(one)}\n`)
  }

  /** It has been ended, or removed, in an orderly way. */
  remove(one: Guarded): void {
    this.#child.stdin?.write(`-${JSON.stringify(one)}\n`)
  }

  /** Ends and removes what is left. Resolves when that is done. */
  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const exited = once(this.#child, 'exit')
    this.#child.stdin?.end()
    await exited
  }
}
