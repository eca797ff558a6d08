import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type Guard, MARK } from '@startgrid/machine/guard.ts'
import { endProcesses, type Launched } from '@startgrid/machine/processes.ts'

/** A program of somebody else in a process group of its own, which the guard ends if we cannot. */
export interface Program {
  child: ChildProcess
  group: number
  /** It and all that it started. */
  launched: Launched
  /** What it printed last; empty if nothing. */
  lastLines(): string
  /** SIGTERM, and after a while SIGKILL for what does not heed it. @returns whether that was needed */
  end(graceMs?: number): Promise<boolean>
}

interface ProgramOptions {
  directory: string
  guard: Guard
  env?: Readonly<Record<string, string>>
}

let count = 0

/** @throws {Error} with a clause if it cannot be started */
export async function startProgram(
  [file = '', ...args]: readonly string[],
  { directory, guard, env }: ProgramOptions,
): Promise<Program> {
  const mark = `${guard.run}.${++count}`
  const child = spawn(file, args, {
    cwd: directory,
    env: { ...environment(), ...env, [MARK]: mark },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const group = child.pid
  if (group === undefined) {
    const [error] = await once(child, 'error')
    throw new Error(`${file} cannot be started (${(error as NodeJS.ErrnoException).code})`)
  }
  guard.add({ group })
  const launched = { groups: [group], mark: `${MARK}=${mark}` }
  const output = new Tail()
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => output.add(chunk))
  const end = async (graceMs = 5000) => {
    const heeded = await endProcesses(launched, 'SIGTERM', graceMs)
    if (!heeded) await endProcesses(launched, 'SIGKILL', 10_000)
    guard.remove({ group })
    child.stdout.destroy()
    child.stderr.destroy()
    return !heeded
  }
  return { child, group, launched, lastLines: () => output.last(), end }
}

/**
 * Runs a program to its end, with what it started.
 * @returns why it failed: a clause; undefined if it did not
 */
export async function runProgram(
  command: readonly string[],
  { signal, ...options }: ProgramOptions & { signal: AbortSignal },
): Promise<string | undefined> {
  signal.throwIfAborted()
  const program = await startProgram(command, options)
  const stop = () => void program.end(1000)
  signal.addEventListener('abort', stop, { once: true })
  const [code, by] = await once(program.child, 'exit')
  signal.removeEventListener('abort', stop)
  await program.end(1000)
  if (code === 0) return undefined
  const lines = program.lastLines()
  return `${command.join(' ')} ${by === null ? `ended with exit code ${code}` : `was ended by ${by}`}${lines && `: ${lines}`}`
}

/** What a package manager that started us added about us is nothing to the program. */
function environment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(?:npm_|PNPM_SCRIPT_SRC_DIR$)/.test(name)),
  )
}

/** Most of these bytes of output are kept: the last ones. */
const KEPT_OUTPUT = 64 * 1024
const SHOWN_LINES = 5

/** The end of an output, however long that is. */
class Tail {
  #text = ''

  add(chunk: Buffer): void {
    this.#text = (this.#text + chunk.toString()).slice(-KEPT_OUTPUT)
  }

  last(): string {
    const lines = this.#text.split('\n').filter((line) => line.trim() !== '')
    return lines.slice(-SHOWN_LINES).join(' | ').slice(-600)
  }
}
