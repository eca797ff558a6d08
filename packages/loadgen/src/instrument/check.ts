import { readFileSync } from 'node:fs'

/** What the load generator says against what is true: servers with a known behaviour, and the kernel's account of disturbance. */

/** A measured value and the range in which it must lie, ends included. */
export interface Figure {
  readonly what: string
  readonly value: number
  readonly least: number
  readonly most: number
}

export interface Trial {
  readonly figures: readonly Figure[]
  /** Milliseconds that server and generator were ready to run but had no core. */
  readonly waitedMs: number
}

export interface InstrumentCheck {
  readonly name: string
  /** Trials with more `waitedMs` are disturbed: they are repeated, and decide nothing. */
  readonly calmMs: number
  /** Why this machine cannot run the check, as a clause; undefined if it can. */
  absent?(): string | undefined
  /** @throws {Error} if the generator miscounts, which no disturbance excuses */
  measure(): Promise<Trial>
}

export interface CheckOutcome {
  readonly name: string
  /** `undecided`: every trial was disturbed. */
  readonly state: 'sound' | 'wrong' | 'undecided' | 'absent'
  readonly trials: number
  /** Of the trial that decided, or of the last one. */
  readonly figures: readonly Figure[]
  /** Why it is absent, or what was miscounted. */
  readonly reason?: string
}

const MOST_TRIALS = 5
/** The kernel does not report a neighbour on the same physical core, so one calm trial is not enough to fail a check. */
const WRONG_TRIALS = 2

export function near(what: string, value: number, expected: number, tolerance: number): Figure {
  return { what, value, least: expected - tolerance, most: expected + tolerance }
}

export function isWithin({ value, least, most }: Figure): boolean {
  return value >= least && value <= most
}

/** Repeats a check until one calm trial is sound, two are wrong, or five were made. */
export async function runCheck(check: InstrumentCheck): Promise<CheckOutcome> {
  const { name } = check
  const reason = check.absent?.()
  if (reason !== undefined) return { name, state: 'absent', trials: 0, figures: [], reason }
  let figures: readonly Figure[] = []
  let wrong = 0
  for (let trials = 1; trials <= MOST_TRIALS; trials += 1) {
    try {
      const trial = await check.measure()
      figures = trial.figures
      if (trial.waitedMs > check.calmMs) continue
    } catch (error) {
      return { name, state: 'wrong', trials, figures, reason: messageOf(error) }
    }
    if (figures.every(isWithin)) return { name, state: 'sound', trials, figures }
    wrong += 1
    if (wrong === WRONG_TRIALS) return { name, state: 'wrong', trials, figures }
  }
  return { name, state: 'undecided', trials: MOST_TRIALS, figures }
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0] ?? ''
}

/** Nanoseconds that the main thread of a process ran, and that it was ready to run but had no core; 0 where the system does not count. */
export function schedstat(pid: number): { ran: number; waited: number } {
  // https://docs.kernel.org/scheduler/sched-stats.html
  if (process.platform !== 'linux') return { ran: 0, waited: 0 }
  const [ran = 0, waited = 0] = readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ').map(Number)
  return { ran, waited }
}

/** Begins to watch processes. @returns milliseconds since then that they had no core, added up */
export function watchWaiting(...processes: { pid: number }[]): () => number {
  const total = () => processes.reduce((sum, { pid }) => sum + schedstat(pid).waited, 0) / 1e6
  const before = total()
  return () => total() - before
}
