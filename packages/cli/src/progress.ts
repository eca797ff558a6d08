import { formatMinutes } from './numbers.ts'
import { COLUMNS, wrap } from './text.ts'

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
const [HIDE_CURSOR, SHOW_CURSOR, CLEAR_LINE] = ['\u001b[?25l', '\u001b[?25h', '\r\u001b[K']

/** One line that is written again and again; a sentence takes its place, and it goes on below. */
function createBar(stream: NodeJS.WriteStream): Progress {
  let timer: NodeJS.Timeout | undefined
  let clock = new Clock(0)
  let [done, step] = [0, 'starting']
  const draw = () => {
    const filled = '█'.repeat(Math.round(done * BAR_COLUMNS)).padEnd(BAR_COLUMNS, '░')
    const line = `${filled} ${Math.floor(done * 100)} %  ${formatMinutes(clock.left())} left  ${step}`
    stream.write(CLEAR_LINE + cut(line, stream.columns))
  }
  return {
    begin: (expectedMs) => {
      clock = new Clock(expectedMs)
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

/** Cuts the line: a bar that is wider than the terminal would leave a line behind on each update. */
function cut(line: string, columns = COLUMNS): string {
  return line.length <= columns ? line : `${line.slice(0, columns - 1)}…`
}

function createLines(stream: NodeJS.WriteStream): Progress {
  let last = ''
  let clock = new Clock(0)
  return {
    begin: (expectedMs) => {
      clock = new Clock(expectedMs)
    },
    update: (done, step) => {
      clock.update(done)
      if (step !== last) stream.write(`${step}, ${formatMinutes(clock.left())} left\n`)
      last = step
    },
    say: (text) => {
      stream.write(`${text}\n`)
    },
    stop: () => {},
  }
}

/** Estimates the time left: at first from the expected duration, later more and more from the run so far. */
export class Clock {
  readonly #now: () => number
  readonly #startedAt: number
  readonly #expectedMs: number
  #endsAt: number

  /** @param now milliseconds since any fixed time */
  constructor(expectedMs: number, now: () => number = () => performance.now()) {
    this.#now = now
    this.#startedAt = now()
    this.#expectedMs = expectedMs
    this.#endsAt = this.#startedAt + expectedMs
  }

  /** @param done 0 to 1 */
  update(done: number): void {
    const now = this.#now()
    // Both forecasts of the time left, weighted by how much is known.
    const planned = this.#expectedMs * (1 - done)
    const measured = done > 0 ? ((now - this.#startedAt) / done) * (1 - done) : planned
    this.#endsAt = now + planned * (1 - done) + measured * done
  }

  /** Milliseconds left, never below 0. */
  left(): number {
    return Math.max(0, this.#endsAt - this.#now())
  }
}
