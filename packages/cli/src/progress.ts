import { type Options, type Params, Presets, SingleBar } from 'cli-progress'
import { formatMinutes } from './duration.ts'
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

interface State {
  done: number
  step: string
  clock: Clock
}

/** cli-progress moves the cursor to the start of the bar. So a sentence ends the bar, and a new bar begins below it. */
function createBar(stream: NodeJS.WriteStream): Progress {
  const options = {
    stream,
    format: (options: Options, _params: Params, state: State) =>
      cut(formatBar(options, state), stream.columns),
    hideCursor: true,
    clearOnComplete: true,
    gracefulExit: false, // our own handler of Ctrl-C calls stop
    fps: 4,
  }
  let bar: SingleBar | undefined
  let state: State = { done: 0, step: 'starting', clock: new Clock(0) }
  const draw = () => {
    bar = new SingleBar(options, Presets.shades_classic)
    bar.start(1, 0, state)
  }
  return {
    begin: (expectedMs) => {
      state = { ...state, clock: new Clock(expectedMs) }
      if (!bar) draw()
    },
    update: (done, step) => {
      state.clock.update(done)
      state = { ...state, done, step }
      bar?.update(done, state)
    },
    say: (text) => {
      bar?.stop()
      stream.write(`${wrap(text, '', stream.columns)}\n`)
      if (bar) draw()
    },
    stop: () => {
      bar?.stop()
      bar = undefined
    },
  }
}

const BAR_COLUMNS = 24

function formatBar(
  { barCompleteString = '', barIncompleteString = '' }: Options,
  { done, step, clock }: State,
): string {
  const filled = Math.round(done * BAR_COLUMNS)
  const bar = barCompleteString.slice(0, filled) + barIncompleteString.slice(0, BAR_COLUMNS - filled)
  return `${bar} ${Math.floor(done * 100)} %  ${formatMinutes(clock.left())} left  ${step}`
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
