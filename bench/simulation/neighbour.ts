import { execFileSync } from 'node:child_process'
import { UsageError } from '@startgrid/cli/arguments.ts'
import { flag, helpOf, integer, readCommandLine, text } from '@startgrid/cli/options.ts'
import { createRandom, type Random } from '@startgrid/stats/random.ts'

/**
 * A neighbour that takes a core in bursts, for trying what the benchmark does on a busy machine. It makes visible noise: the kernel
 * preempts the servers for it, and its accounts say so.
 */

const OPTIONS = {
  core: integer('the core to stay on (default: any; needs taskset)', { min: 0, max: 4095 }),
  burst: text('S', 'seconds of work (default 0.2)'),
  pause: text('S', 'seconds of rest between bursts (default 0.2)'),
  duty: text('PART', 'instead of --pause: the part of the time that is work, above 0 and below 1'),
  random: flag('draws both lengths from exponential distributions with these means'),
  'two-state': flag('the same as --random --burst 1.65 --pause 0.55'),
  seed: integer('of the random lengths', { min: 0, max: 2 ** 32 - 1, default: 1 }),
  seconds: text('S', 'ends after this time, at most 600 (default 30)'),
  help: flag('this text'),
}

const HELP = `Takes one core in bursts, as a busy neighbour would.

  node bench/simulation/neighbour.ts [options]

${helpOf(OPTIONS)}

It also ends when its parent ends, and on Ctrl-C.
`

/** Nobody needs a busy neighbour for longer, and one that was forgotten does no harm for long. */
const MOST_SECONDS = 600

/** How long one stretch of work lasts before it looks at the time and at its parent. */
const STRETCH_MS = 5

/** What the neighbour does; all times in seconds. */
export interface Habits {
  core: number | undefined
  burst: number
  pause: number
  random: boolean
  seed: number
  seconds: number
}

/**
 * @returns null if help was asked for
 * @throws {UsageError} if an option is unknown or out of range
 */
export function parseHabits(argv: readonly string[]): Habits | null {
  const { values } = readCommandLine(argv, OPTIONS, 'node bench/simulation/neighbour.ts')
  if (values.help) return null
  const twoState = values['two-state']
  const burst = inRange('--burst', values.burst ?? (twoState ? '1.65' : '0.2'), 0.001, MOST_SECONDS)
  const lengths = ['burst', 'pause', 'duty'] as const
  const other = lengths.find((name) => twoState && values[name] !== undefined)
  if (other !== undefined) throw new UsageError(`--two-state and --${other} exclude each other.`)
  if (values.pause !== undefined && values.duty !== undefined)
    throw new UsageError('--pause and --duty exclude each other.')
  const duty = values.duty === undefined ? null : inRange('--duty', values.duty, 0.001, 0.999)
  const pause = inRange('--pause', values.pause ?? (twoState ? '0.55' : '0.2'), 0.001, MOST_SECONDS)
  return {
    core: values.core,
    burst,
    pause: duty === null ? pause : (burst * (1 - duty)) / duty,
    random: values.random || twoState,
    seed: values.seed,
    seconds: inRange('--seconds', values.seconds ?? '30', 0.001, MOST_SECONDS),
  }
}

function inRange(option: string, text: string, least: number, most: number): number {
  const value = Number(text)
  if (text.trim() !== '' && value >= least && value <= most) return value
  throw new UsageError(`${option} takes a number from ${least} to ${most}, not ${JSON.stringify(text)}.`)
}

/** What comes next, work first, until the time is over; all times in seconds. */
export function* scheduleOf({ burst, pause, random, seed, seconds }: Omit<Habits, 'core'>): Generator<{
  work: boolean
  seconds: number
}> {
  const draw: Random = createRandom(seed)
  let left = seconds
  for (let work = true; left > 0; work = !work) {
    const typical = work ? burst : pause
    const length = Math.min(left, random ? -Math.log(1 - draw()) * typical : typical)
    yield { work, seconds: length }
    left -= length
  }
}

/** Does what the habits say. @returns when the time is over, or `shouldEnd` says so */
async function live(habits: Habits, shouldEnd: () => boolean): Promise<void> {
  const end = performance.now() + habits.seconds * 1000
  for (const { work, seconds } of scheduleOf(habits)) {
    const until = Math.min(end, performance.now() + seconds * 1000)
    while (performance.now() < until && !shouldEnd())
      if (work) spin(Math.min(until, performance.now() + STRETCH_MS))
      else await rest(Math.max(0, Math.min(100, until - performance.now())))
    if (shouldEnd() || performance.now() >= end) return
  }
}

function spin(until: number): void {
  while (performance.now() < until);
}

function rest(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

function describe({ core, burst, pause, random, seconds }: Habits): string {
  const where = core === undefined ? 'any core' : `core ${core}`
  const part = Math.round((100 * burst) / (burst + pause))
  return `Takes ${where} for ${seconds} s, ${part} % of the time${random ? ' on average' : ''}.`
}

function stayOn(core: number): void {
  try {
    execFileSync('taskset', ['-a', '-c', '-p', String(core), String(process.pid)], { stdio: 'pipe' })
  } catch {
    throw new UsageError(`It cannot stay on core ${core}: taskset is missing, or there is no such core.`)
  }
}

async function main(): Promise<void> {
  const habits = parseHabits(process.argv.slice(2))
  if (habits === null) {
    console.log(HELP)
    return
  }
  if (habits.core !== undefined) stayOn(habits.core)
  const parent = process.ppid
  console.log(describe(habits))
  await live(habits, () => process.ppid !== parent)
}

if (import.meta.main)
  main().catch((error: Error) => {
    console.error(error.message)
    process.exitCode = 1
  })
