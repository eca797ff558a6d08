import { setTimeout as sleep } from 'node:timers/promises'
import { listOf } from '@startgrid/cli/text.ts'
import { hasTool } from '@startgrid/grid/launcher.ts'
import type { Guard } from '@startgrid/machine/guard.ts'
import {
  cpuSeconds,
  currentMemory,
  findProcesses,
  heldBy,
  isRunning,
  type Launched,
  type Listener,
  listeners,
  listenersAt,
  nameOfHolder,
  othersAtPlacesOf,
  processTree,
} from '@startgrid/machine/processes.ts'
import { claimPort } from '@startgrid/nginx/address.ts'
import { openConnection } from '@startgrid/wire/client.ts'
import { NoResponse, type Response } from '@startgrid/wire/reader.ts'
import type { Target } from '@startgrid/wire/target.ts'
import { startProgram } from './program.ts'
import { type Asked, ask, isExpected, nameAsked, quote } from './request.ts'

/**
 * A command as a person types it, for a shell: `node before.js`. It serves HTTP/1.1 on the port that its environment says, in `PORT`, or that
 * stands in it for `{port}`.
 */
export interface Command {
  command: string
  /** Where it runs; absolute. */
  directory: string
  /** Added to the person's environment. */
  env?: Readonly<Record<string, string>>
  /** Ready when this is responded to as expected: with that status, or any 2xx. */
  ready: Asked & {
    status?: number
    /** Paths that tell it as well: not every system has each that is raced. */
    or?: readonly string[]
  }
  /** `--ready-timeout`; undefined: as is usual. */
  readyTimeoutMs?: number | undefined
}

/** One start of a command. */
export interface CommandServer {
  target: Target
  /** Seconds from the start of its process to the last byte of its first right response. */
  startup: number
  /** It was not found at once, so that its start-up time is that of a search. */
  isElsewhere: boolean
  /** CPU seconds that it used until then. */
  startCpu: number
  /** Resident bytes at that moment; undefined where the system does not tell. */
  readyMemory: number | undefined
  /** All of its processes, also those that left its group. */
  pids(): number[]
  /** The group of the process that was started, and its mark. */
  launched: Launched
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
  /** Says something of the server to the person alone, because secrets may be in it: `printed: Error: …` */
  tell(text: string): void
  /** It is ready, but not on its port. */
  isElsewhere(place: string): void
  /** Milliseconds between SIGTERM and SIGKILL. */
  graceMs?: number
  /** Default: a free one. */
  port?: number | undefined
}

/** Without `ready` it is ready when it accepts connections. */
type Startable = Omit<Command, 'ready'> & Partial<Pick<Command, 'ready'>>

const HOST = '127.0.0.1'

/** A right response may take long; one that is late is asked for again. */
const RESPONSE_MS = 10_000

/** Without `--ready-timeout`: until it responds at all, and until it no longer responds otherwise, where 503 says that it is still starting. */
const READY_MS = 30_000
const OTHERWISE_MS = 8000

/** A command that ended well may have left a server that does not listen yet. */
const DAEMON_MS = 4000

/** From then on a person is told why it is not ready, and it is looked for elsewhere than on its port. */
const TELL_MS = 5000
const ELSEWHERE_MS = 1000

/**
 * Starts a command and waits until it responds as expected.
 * @throws {Error} with a sentence; nothing is left running
 * @throws the signal's reason after an abort
 */
export async function startCommand(command: Startable, options: StartOptions): Promise<CommandServer> {
  const { guard, cpus, signal, tell, isElsewhere: tellElsewhere, graceMs = 5000 } = options
  const port = await claimPort({ host: HOST, port: options.port ?? 0 })
  const line = command.command.replaceAll('{port}', String(port))
  const beganAt = performance.now()
  const program = await startProgram([...binding(cpus), 'sh', '-c', foreground(line)], {
    directory: command.directory,
    guard,
    env: { ...command.env, PORT: String(port), HOST },
    port,
  })
  const { child, group, launched } = program
  let roots = [group]
  let ended: string | undefined
  let how = 'has ended'
  /** `performance.now()` from which on it has ended, if nothing of it is left. */
  let overAt: number | undefined
  let isTold = false
  let isReady = false
  child.once('exit', (code, by) => {
    // A shell may end and leave the server to itself.
    roots = findProcesses(launched)
    if (roots.length === 0) how = by === null ? `ended with exit code ${code}` : `was ended by ${by}`
    // Its last lines may arrive after its end, and a daemon that it left is found once that listens.
    const patienceMs = roots.length === 0 && code === 0 ? DAEMON_MS : 0
    child.once('close', () => {
      overAt = performance.now() + patienceMs
    })
  })
  const whyEnded = () => {
    const isOver = overAt !== undefined && performance.now() >= overAt
    if (isOver && findProcesses(launched).length === 0) ended ??= how
    if (ended === undefined) return undefined
    const lines = program.lastLines()
    if (!isTold && lines !== '') tell(`printed: ${lines}`)
    isTold = true
    const mayWaitForInput = !isReady && ended.endsWith('code 0')
    return `it ${ended}${remedyFor(lines) || (mayWaitForInput ? OF_INPUT : '')}`
  }
  const stop = () => program.end(graceMs)
  const pids = () => [...new Set(roots.flatMap(processTree))].filter(isRunning)
  /** What called setsid and was left by its parent is in no tree. */
  const all = () => [...new Set([...pids(), ...findProcesses(launched)])]
  try {
    const { target, at } = await becomeReady({ port, command, signal, whyEnded, pids: all, tell })
    isReady = true
    const startup = (at - beganAt) / 1000
    if (overAt !== undefined) how = 'has ended'
    roots = all()
    const [other] = othersAtPlacesOf(roots)
    if (other !== undefined)
      throw new Error(
        `it shares ${nameOf(other.place)} with ${nameOfHolder(other)}, and each gets requests of the other: ${OWN_PORT}`,
      )
    const place = 'socketPath' in target ? target.socketPath : target.port
    const isElsewhere = place !== port
    if (isElsewhere) tellElsewhere(nameOf(place))
    const startCpu = cpuSeconds(pids()) ?? 0
    const readyMemory = currentMemory(pids())
    return { target, startup, isElsewhere, startCpu, readyMemory, pids, launched, whyEnded, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

const OWN_PORT =
  'systems of a race run at the same time, so each has to listen on PORT of its environment, or on {port} in its command'

/** A single program takes the place of the shell, and gets its signals: not every shell does that by itself. */
function foreground(line: string): string {
  const isSingle =
    /^(?!\s*(?:\w+=\S*\s+)*(?:exec|command|eval|exit|cd|ulimit|umask)\b)[^;&|<>()`$\n#!]+$/.test(line)
  return isSingle ? `exec ${/^\s*\w+=/.test(line) ? 'env ' : ''}${line}` : line
}

/** Some end when it does, or ask there; both before they serve. */
const OF_INPUT =
  '; its standard input is empty: if it waits for that, let the command begin with tail -f /dev/null |'

/** What its last lines say that a person can do. */
function remedyFor(lines: string): string {
  if (/EADDRINUSE|address (?:is )?already in use/i.test(lines))
    return `, because its port is in use: ${OWN_PORT}`
  if (/ERR_MODULE_NOT_FOUND|Cannot find (?:module|package)/.test(lines))
    return ', because it imports what is not there: install or build that; with --git, --build says how'
  return ''
}

interface Becoming extends Pick<StartOptions, 'signal' | 'tell'>, Pick<CommandServer, 'whyEnded' | 'pids'> {
  port: number
  command: Startable
}

/** @returns where it is ready, and since when: on its port, or else on the only one on which it listens */
async function becomeReady(becoming: Becoming): Promise<{ target: Target; at: number }> {
  const { port, signal, whyEnded, pids, tell } = becoming
  const { ready, readyTimeoutMs } = becoming.command
  const beganAt = performance.now()
  const own = () => heldBy(pids(), listeners())
  const places = () => [...new Set(own().map(({ place }) => place))]
  /** Who listens on its port, and is none of its processes. */
  let other: Listener | undefined
  const known = new Set<Target>()
  const isOwn = (target: Target) => {
    const found = known.has(target) ? [] : listenersAt(target)
    if (found.length > 0 && heldBy(pids(), found).length === 0) other = found[0]
    else known.add(target)
    return known.has(target)
  }
  let targets = [HOST, '::1'].map((host): Target => ({ host, port }))
  let elsewhere: number | string | undefined
  let [lookedAt, tellAt] = [beganAt, beganAt + TELL_MS]
  const paths = ready && [ready.path, ...(ready.or ?? [])]
  let asked = ready
  let isAsking = false
  /** A unix socket may be no server's: tsx has one before the program listens. */
  const askSocket = async ([socket]: readonly Target[]) => {
    if (socket === undefined || isAsking) return
    isAsking = true
    const response = await ask(socket, asked ?? { path: '/' }, RESPONSE_MS, signal).catch(() => undefined)
    if (response !== undefined) targets = [socket]
    isAsking = false
  }
  let tries = 0
  let last: { seen: Response; asked: Command['ready'] } | undefined
  let silence = new NoResponse('refused', 'nobody was asked')
  let otherwiseAt: number | undefined
  const why = () => {
    if (last !== undefined) return whyOtherwise(last.seen, last.asked)
    if (other === undefined || places().length > 0)
      return whySilent(port, places(), ready && nameAsked(ready), silence)
    return `its port was taken by ${nameOfHolder(other)}, which it did not start`
  }
  for (;;) {
    const isOutOfTime = signal.reason instanceof Error && signal.reason.name === 'TimeoutError'
    if (!isOutOfTime) signal.throwIfAborted()
    const reason = whyEnded()
    if (reason !== undefined) throw new Error(reason)
    if (isOutOfTime)
      throw new Error(`${why()} after ${secondsSince(beganAt)} s, and --max-time leaves no more for a start`)
    const now = performance.now()
    const isOtherwise = otherwiseAt !== undefined && readyTimeoutMs === undefined
    const until = isOtherwise ? (otherwiseAt ?? 0) + OTHERWISE_MS : beganAt + (readyTimeoutMs ?? READY_MS)
    const patienceMs = Math.max(100, Math.min(RESPONSE_MS, until - now))
    const { target, seen, at } = await look(targets, asked, { patienceMs, signal, isOwn })
    const isResponse = !(seen instanceof NoResponse)
    if (seen === undefined || (isResponse && isExpected(seen, ready?.status))) return { target, at }
    if (!isResponse && seen.failure !== 'aborted') silence = seen
    if (isResponse) {
      if (asked) last = { seen, asked }
      if (ready && paths && seen.status !== 503)
        asked = { ...ready, path: paths[++tries % paths.length] ?? ready.path }
      otherwiseAt = seen.status === 503 ? undefined : (otherwiseAt ?? now)
    }
    const isLate = performance.now() > until
    if (isLate || performance.now() > tellAt) {
      if (last !== undefined) tell(`responded: ${quote(last.seen)}`)
      if (isLate) throw new Error(`${why()} after ${secondsSince(beganAt)} s: see --ready-timeout`)
      tell(`is not ready yet: ${why()}. It has ${Math.round((until - beganAt) / 1000)} s (--ready-timeout).`)
      tellAt = Number.POSITIVE_INFINITY
    }
    if (!isResponse && performance.now() - lookedAt > ELSEWHERE_MS) {
      if (seen.failure !== 'refused' && seen.failure !== 'timeout' && (await speaksTls(target)))
        throw new Error('it speaks HTTPS, and races are over plain HTTP: start it without TLS')
      const [only, ...others] = seen.failure === 'refused' ? places() : []
      // Another port may follow: it has to be the only one twice.
      if (only !== undefined && others.length === 0 && only === elsewhere) {
        const found = own().flatMap((one) => (one.place === only ? targetsOf(one) : []))
        if (typeof only === 'number') targets = found
        else void askSocket(found)
      }
      elsewhere = others.length === 0 ? only : undefined
      lookedAt = performance.now()
    }
    await sleep(5)
  }
}

/** How a client of this machine reaches it. */
function targetsOf({ place, address }: Pick<Listener, 'place' | 'address'>): Target[] {
  if (typeof place === 'string') return [{ socketPath: place.replace(/^@/, '\0') }]
  const hosts = { '0.0.0.0': [HOST], '::': [HOST, '::1'] }[address] ?? [address]
  return hosts.map((host) => ({ host, port: place }))
}

interface Looking extends Pick<StartOptions, 'signal'> {
  patienceMs: number
  isOwn(target: Target): boolean
}

/** @returns what the first of them says on which it listens itself */
async function look(
  targets: readonly Target[],
  ready: Startable['ready'],
  looking: Looking,
): Promise<{ target: Target; seen: Response | NoResponse | undefined; at: number }> {
  const [target = { host: HOST, port: 0 }, ...others] = targets
  const { patienceMs, signal, isOwn } = looking
  const asking =
    ready === undefined ? listens(target, patienceMs, signal) : ask(target, ready, patienceMs, signal)
  const found = await asking.catch((error: unknown) => {
    if (error instanceof NoResponse) return error
    throw error
  })
  const isSilent = found instanceof NoResponse && found.failure === 'refused'
  const at = performance.now()
  const seen = isSilent || isOwn(target) ? found : new NoResponse('refused', 'it is another one')
  const isRefused = seen instanceof NoResponse && seen.failure === 'refused'
  return isRefused && others.length > 0 ? look(others, ready, looking) : { target, seen, at }
}

async function listens(target: Target, timeoutMs: number, signal: AbortSignal): Promise<undefined> {
  const connection = await openConnection(target, { timeoutMs, signal })
  connection.destroy()
}

async function speaksTls(target: Target): Promise<boolean> {
  if ('socketPath' in target) return false
  const connection = await openConnection({ ...target, ca: null }, { timeoutMs: 2000 }).catch(() => undefined)
  connection?.destroy()
  return connection !== undefined
}

function whyOtherwise({ status }: Response, ready: Command['ready']): string {
  return `it responds to ${nameAsked(ready)} with status ${status}, and ${ready.status ?? '2xx'} was expected (--path, --ready-path and --expect-status say what)`
}

function whySilent(
  port: number,
  places: readonly (number | string)[],
  asked = 'anything',
  { failure, part }: NoResponse,
): string {
  if (part !== undefined)
    return `it begins a response to ${asked} and does not end it: a stream cannot be raced, so --path or --ready-path has to name something else`
  if (failure === 'malformed') return `what it says to ${asked} is not HTTP/1.1`
  // On a busy machine a refusal may come too late. On Linux the places are known.
  const isRefused = failure === 'refused' || (failure === 'timeout' && process.platform === 'linux')
  if (places.length === 0 && isRefused) return 'it does not listen'
  if (places.includes(port) || failure !== 'refused') return `it listens, but does not respond to ${asked}`
  return `it listens on ${listOf(places.map(nameOf))} instead of port ${port}: it has to listen on PORT of its environment, or on {port} in its command`
}

function secondsSince(beganAt: number): number {
  return Math.round((performance.now() - beganAt) / 100) / 10
}

/** Where it listens, as a person would write it; no path of the machine. */
function nameOf(place: number | string): string {
  return typeof place === 'number' ? `port ${place}` : 'a unix socket'
}

function binding(cpus: string | undefined): string[] {
  return cpus !== undefined && hasTool('taskset') ? ['taskset', '-c', cpus] : []
}
