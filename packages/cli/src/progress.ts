import { formatMinutes } from './numbers.ts'
import { COLUMNS, cut, wrap } from './text.ts'

/** Shows the progress of a long run on standard error: on a terminal that moves its cursor a bar with the time left, otherwise a line per step. */
export interface Progress {
  /** @param expectedMs expected duration of the whole run, in milliseconds */
  begin(expectedMs: number): void
  /** @param done 0 to 1 */
  update(done: number, step: string): void
  /** A sentence for the person, without breaking the bar. */
  say(text: string): void
  /** Restores the terminal. It may be called again. */
  stop(): void
}

export function createProgress(
  stream: NodeJS.WriteStream = process.stderr,
  { TERM } = process.env,
): Progress {
  return stream.isTTY && TERM !== 'dumb' ? createBar(stream) : createLines(stream)
}

const BAR_COLUMNS = 24
const REDRAWN_EVERY_MS = 250
const HIDE_CURSOR = '\u001b[?25l'
const SHOW_CURSOR = '\u001b[?25h'
const CLEAR_LINE = '\r\u001b[K'

/** One line that is written again and again; a sentence takes its place, and it goes on below. */
function createBar(stream: NodeJS.WriteStream): Progress {
  let timer: NodeJS.Timeout | undefined
  let clock = startClock(0)
  let [done, step] = [0, 'starting']
  const draw = () => {
    const filled = '█'.repeat(Math.round(done * BAR_COLUMNS)).padEnd(BAR_COLUMNS, '░')
    const line = `${filled} ${Math.floor(done * 100)} %  ${formatMinutes(clock.left())} left  ${step}`
    // One that is wider than the terminal would leave a line behind on each update.
    stream.write(CLEAR_LINE + cut(line, stream.columns ?? COLUMNS))
  }
  return {
    begin: (expectedMs) => {
      clock = startClock(expectedMs)
      if (timer !== undefined) return
      stream.write(HIDE_CURSOR)
      draw()
      timer = setInterval(draw, REDRAWN_EVERY_MS).unref()
    },
    update: (part, what) => {
      clock.update(part)
      done = part
      step = what
    },
    say: (text) => {
      stream.write(`${timer === undefined ? '' : CLEAR_LINE}${wrap(text, '', stream.columns)}\n`)
      if (timer !== undefined) draw()
    },
    stop: () => {
      if (timer === undefined) return
      clearInterval(timer)
      timer = undefined
      stream.write(CLEAR_LINE + SHOW_CURSOR)
    },
  }
}

function createLines(stream: NodeJS.WriteStream): Progress {
  let last = ''
  let clock = startClock(0)
  return {
    begin: (expectedMs) => {
      clock = startClock(expectedMs)
    },
    update: (done, step) => {
      clock.update(done)
      if (step !== last) stream.write(`${step}, ${formatMinutes(clock.left())} left\n`)
      last = step
    },
    say: (text) => void stream.write(`${text}\n`),
    stop: () => {},
  }
}

/**
 * Estimates the time left: at first from the expected duration, later more and more from the run so far.
 * @param now milliseconds since any fixed time
 */
export function startClock(expectedMs: number, now = () => performance.now()) {
  const startedAt = now()
  let endsAt = startedAt + expectedMs
  return {
    /** @param done 0 to 1 */
    update: (done: number): void => {
      // Both forecasts of the time left, weighted by how much is known.
      const planned = expectedMs * (1 - done)
      const measured = done > 0 ? ((now() - startedAt) / done) * (1 - done) : planned
      endsAt = now() + planned * (1 - done) + measured * done
    },
    /** Milliseconds left, never below 0. */
    left: (): number => Math.max(0, endsAt - now()),
  }
}

/** Milliseconds. A terminal and a package manager both pass on one Ctrl-C, so a second signal within this time is the same one. */
const SAME_INTERRUPTION_MS = 500

const CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

/**
 * The first signal asks for an orderly end. The second ends this process at once, and its children with it.
 * @returns the exit code of an interrupted run: 130 after Ctrl-C, 143 after SIGTERM, 129 if the terminal was lost
 */
export function listenForInterruption(progress: Progress): { signal: AbortSignal; code(): number } {
  const interruption = new AbortController()
  let at = 0
  let code = 0
  const onSignal = (name: keyof typeof CODES) => {
    if (interruption.signal.aborted) {
      if (performance.now() - at < SAME_INTERRUPTION_MS) return
      progress.stop()
      process.exit(code)
    }
    at = performance.now()
    code = CODES[name]
    progress.say('Stopping the servers. Ctrl-C once more ends at once.')
    interruption.abort()
  }
  for (const name of Object.keys(CODES) as (keyof typeof CODES)[]) process.on(name, () => onSignal(name))
  // Nobody reads a terminal that was lost.
  process.stderr.on('error', () => {})
  return { signal: interruption.signal, code: () => code }
}
