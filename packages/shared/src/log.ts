import { writeSync } from 'node:fs'
import { type DestinationStream, type Logger, pino } from 'pino'
import type { Config } from './config.ts'

export type { Logger }

/** JSON lines on standard output, which the platform collects. */
export function createLog(
  { LOG_LEVEL: level }: Pick<Config, 'LOG_LEVEL'>,
  output: DestinationStream = new Output(),
): Logger {
  return pino({ level, base: null, serializers: { err: toLogged } }, output) // `base` is what the platform adds
}

/** What is logged of an error, and of those in it. An HTTP client adds the request with its credentials, Node's parser what it could not read. */
function toLogged(error: unknown, depth = 0): unknown {
  if (Object(error) !== error) return error // anything may be thrown
  const { name, message, stack, code, statusCode, status = statusCode, cause, errors } = Object(error)
  const logged = { type: Object(error).constructor?.name ?? name, message, stack, code, status }
  if (depth === 8) return logged // it may contain itself
  const inner = Array.isArray(errors) ? errors.map((one) => toLogged(one, depth + 1)) : undefined
  return { ...logged, cause: toLogged(cause, depth + 1), errors: inner }
}

/** Characters that wait for a reader of the log who has stopped reading. Further lines are dropped. */
const MAX_WAITING = 16 * 1024 * 1024

/** Lines are written together, so that they wake their reader less often. */
const MIN_WRITE = 4096

/**
 * Standard output. A slow reader stops no request. What is refused, such as by a full disk, is dropped, and the next line that gets through
 * says how many lines were. sonic-boom, which pino would use, throws then, and tries again for ever in an exit.
 */
class Output implements DestinationStream {
  readonly #fd = process.stdout.fd // of a pipe, this getter sets O_NONBLOCK
  #waiting = ''
  #chunk = Buffer.alloc(0) // is being written
  #told = 0 // how many dropped lines the chunk tells of
  #dropped = 0
  #isCut = false // amid a line
  #timer: NodeJS.Timeout | undefined

  constructor() {
    process.on('exit', () => {
      const end = performance.now() + 1_000 // for a slow reader
      while (!this.#flush() && performance.now() < end)
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
    })
  }

  write(line: string): void {
    if (this.#waiting.length + line.length > MAX_WAITING) return void this.#dropped++
    this.#waiting += line
    this.#timer ??= this.#flushIn(100)
    if (this.#waiting.length >= MIN_WRITE && this.#chunk.length === 0) this.#flush()
  }

  #flushIn(ms: number) {
    return setTimeout(() => {
      this.#timer = this.#flush() ? undefined : this.#flushIn(5)
    }, ms).unref()
  }

  /** @returns false if the reader is too slow for all that waits */
  #flush(): boolean {
    try {
      while (this.#chunk.length > 0 || this.#waiting !== '') {
        if (this.#chunk.length === 0) this.#fill()
        const written = writeSync(this.#fd, this.#chunk)
        if (written > 0) this.#isCut = this.#chunk[written - 1] !== 0x0a
        this.#chunk = this.#chunk.subarray(written)
      }
    } catch (error) {
      if (Object(error).code === 'EAGAIN') return false
      this.#dropped += (this.#told || countLines(this.#chunk)) + countLines(this.#waiting)
      this.#chunk = Buffer.alloc(0)
      this.#waiting = ''
    }
    return true
  }

  #fill(): void {
    this.#told = this.#dropped
    this.#dropped = 0
    const notice = { level: 40, time: Date.now(), dropped: this.#told, msg: 'lines of the log were dropped' }
    const text = this.#told > 0 ? `${JSON.stringify(notice)}\n` : this.#waiting
    if (this.#told === 0) this.#waiting = ''
    this.#chunk = Buffer.from(this.#isCut ? `\n${text}` : text)
  }
}

function countLines(text: Buffer | string): number {
  return text.toString().split('\n').length - 1
}
