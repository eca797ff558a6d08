import { Presets, SingleBar } from 'cli-progress'

/** Shows how far a long run is: a bar with the time left on a terminal, else a line per step. Both on standard error. */
export interface Progress {
  /** @param done 0 to 1 */
  update(done: number, step: string): void
  /** A sentence for the person, without breaking the bar. */
  say(text: string): void
  stop(): void
}

export function createProgress(stream: NodeJS.WriteStream = process.stderr): Progress {
  return stream.isTTY ? createBar(stream) : createLines(stream)
}

function createBar(stream: NodeJS.WriteStream): Progress {
  const startedAt = Date.now()
  const bar = new SingleBar(
    {
      stream,
      format: '{bar} {percentage} %  {left}  {step}',
      barsize: 24,
      hideCursor: true,
      clearOnComplete: true,
    },
    Presets.shades_classic,
  )
  bar.start(100, 0, { left: '', step: '' })
  return {
    update: (done, step) => bar.update(Math.floor(done * 100), { left: timeLeft(done, startedAt), step }),
    say: (text) => {
      stream.write(`\r\u001b[K${text}\n`)
    },
    stop: () => bar.stop(),
  }
}

function createLines(stream: NodeJS.WriteStream): Progress {
  let last = ''
  return {
    update: (_done, step) => {
      if (step !== last) stream.write(`${step}\n`)
      last = step
    },
    say: (text) => {
      stream.write(`${text}\n`)
    },
    stop: () => {},
  }
}

/** From the time so far: steps take about as long as those before them. */
function timeLeft(done: number, startedAt: number): string {
  if (done < 0.02) return ''
  const seconds = Math.round((((Date.now() - startedAt) / done) * (1 - done)) / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} left`
}
