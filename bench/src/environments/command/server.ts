import { setTimeout as sleep } from 'node:timers/promises'
import { hasTool } from '@startgrid/grid/launcher.ts'
import type { Guard } from '@startgrid/machine/guard.ts'
import { currentMemory, findProcesses, listeningPorts, processTree } from '@startgrid/machine/processes.ts'
import { claimPort } from '@startgrid/nginx/address.ts'
import type { Target } from '@startgrid/wire/target.ts'
import { type Command, nameAsked } from '../../model/experiment.ts'
import { startProgram } from './program.ts'
import { ask, isExpected } from './request.ts'

/** One start of a command. */
export interface CommandServer {
  target: Target
  /** Seconds from the start of its process to the last byte of its first right response. */
  startup: number
  /** Resident bytes at that moment; undefined where the system does not tell. */
  readyMemory: number | undefined
  /** All of its processes, also those that left its group. */
  pids(): number[]
  /** Why it can respond no more: a clause without the full stop. Undefined while it can. */
  whyEnded(): string | undefined
  /** SIGTERM, and SIGKILL for what does not heed it. @returns whether that was needed */
  stop(): Promise<boolean>
}

interface StartOptions {
  guard: Guard
  /** The cores to stay on, as taskset writes them; undefined: all. */
  cpus: string | undefined
  signal: AbortSignal
  /** Told what a server that died has printed last: for a person's eyes, because secrets may be in it. */
  onLastLines(lines: string): void
  /** Milliseconds between SIGTERM and SIGKILL. */
  graceMs?: number
}

const HOST = '127.0.0.1'

/** A right response may take long; one that is late is asked for again. */
const RESPONSE_MS = 10_000

/** A server that responds otherwise for so long is not still starting. 503 says that it is. */
const OTHERWISE_MS = 3000

/**
 * Starts a command and waits until it responds as expected.
 * @throws {Error} with a sentence; nothing is left running
 * @throws the signal's reason after an abort
 */
export async function startCommand(command: Command, options: StartOptions): Promise<CommandServer> {
  const { guard, cpus, signal, onLastLines, graceMs = 5000 } = options
  const port = await claimPort({ host: HOST, port: 0 })
  const line = command.command.replaceAll('{port}', String(port))
  const beganAt = performance.now()
  const program = await startProgram([...binding(cpus), 'sh', '-c', line], {
    directory: command.directory,
    guard,
    env: { ...command.env, PORT: String(port), HOST },
  })
  const { child, group, launched } = program
  let roots = [group]
  let ended: string | undefined
  let isClosed = false
  let isTold = false
  child.once('exit', (code, by) => {
    // A shell may end and leave the server to itself.
    roots = findProcesses(launched)
    const isAlone = roots.length === 0
    // Its last lines may arrive after its end.
    child.once('close', () => {
      isClosed = true
      if (isAlone) ended = by === null ? `ended with exit code ${code}` : `was ended by ${by}`
    })
  })
  const whyEnded = () => {
    if (ended === undefined && isClosed && findProcesses(launched).length === 0) ended = 'has ended'
    if (ended === undefined) return undefined
    if (!isTold && program.lastLines() !== '') onLastLines(program.lastLines())
    isTold = true
    return `it ${ended}`
  }
  const stop = () => program.end(graceMs)
  const target = { host: HOST, port }
  const pids = () => [...new Set(roots.flatMap(processTree))]
  try {
    await becomeReady({ target, command, signal, whyEnded, pids })
    const startup = (performance.now() - beganAt) / 1000
    // What called setsid and was left by its parent is in no tree.
    const all = findProcesses(launched)
    const known = new Set(pids())
    roots = [...roots, ...all.filter((pid) => !known.has(pid))]
    return { target, startup, readyMemory: currentMemory(pids()), pids, whyEnded, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

interface Becoming {
  target: { host: string; port: number }
  command: Command
  signal: AbortSignal
  whyEnded(): string | undefined
  pids(): number[]
}

async function becomeReady({ target, command, signal, whyEnded, pids }: Becoming): Promise<void> {
  const { ready, readyTimeoutMs } = command
  const until = performance.now() + readyTimeoutMs
  let otherwiseAt: number | undefined
  for (;;) {
    signal.throwIfAborted()
    const reason = whyEnded()
    if (reason !== undefined) throw new Error(reason)
    const patienceMs = Math.ceil(Math.min(RESPONSE_MS, Math.max(1, until - performance.now())))
    const given = await ask(target, ready, patienceMs).catch(() => undefined)
    if (given !== undefined && isExpected(given, ready)) return
    const now = performance.now()
    if (given !== undefined) otherwiseAt ??= now
    const isOtherwise =
      given !== undefined && given.status !== 503 && now - (otherwiseAt ?? now) > OTHERWISE_MS
    if (isOtherwise || now > until) throw new Error(whyNotReady(given?.status, { target, command, pids }))
    await sleep(5)
  }
}

function whyNotReady(
  status: number | undefined,
  { target, command: { ready, readyTimeoutMs }, pids }: Pick<Becoming, 'target' | 'command' | 'pids'>,
): string {
  const expected = ready.status === undefined ? '2xx' : String(ready.status)
  if (status !== undefined)
    return `it responds to ${nameAsked(ready)} with status ${status}, and ${expected} was expected: see --ready-path and --expect-status`
  const after = `after ${readyTimeoutMs / 1000} s`
  const ports = listeningPorts(pids())
  if (ports.includes(target.port)) return `it listens, but does not respond to ${nameAsked(ready)} ${after}`
  if (ports.length === 0) return `it does not listen ${after} (see --ready-timeout)`
  return `it listens on port ${ports.join(' and ')} instead of ${target.port}: it has to listen on PORT of its environment, or on {port} in its command`
}

function binding(cpus: string | undefined): string[] {
  return cpus !== undefined && hasTool('taskset') ? ['taskset', '-c', cpus] : []
}
