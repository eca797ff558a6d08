import type { WriteStream } from 'node:tty'
import type { Progress } from './progress.ts'

const WIDTH = 24
const CLEAR = '\r\x1b[K'

/** One line that is drawn over and over on a terminal, at most 79 columns. */
export class ProgressBar {
  readonly #terminal: WriteStream

  constructor(terminal: WriteStream) {
    this.#terminal = terminal
  }

  draw({ done, warmingUp, requests, errors }: Progress): void {
    const filled = Math.round(done * WIDTH)
    const bar = '█'.repeat(filled) + '░'.repeat(WIDTH - filled)
    const state = warmingUp ? 'warming up' : `${requests.toLocaleString('en')} answers`
    const trouble = errors > 0 ? `, ${errors.toLocaleString('en')} errors` : ''
    this.#terminal.write(`${CLEAR}${bar} ${Math.floor(done * 100)} % ${state}${trouble}`)
  }

  clear(): void {
    this.#terminal.write(CLEAR)
  }
}
