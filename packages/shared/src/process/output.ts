import { writeSync } from 'node:fs'
import type { DestinationStream } from 'pino'

/** Characters of lines that share one write: about 300 lines. */
const BATCH = 64 * 1024

/** Milliseconds for which lines wait for others. */
const PERIOD_MS = 500

/** Bytes that may wait for a collector that stalls; lines beyond that are dropped. */
const MOST_WAITING = 16 * 1024 * 1024

/** Milliseconds after which a collector that was behind is tried again. */
const RETRY_MS = 5

/** Nobody wakes who waits for it, so that waiting is a pause. */
const PAUSE = new Int32Array(new SharedArrayBuffer(4))

/**
 * Lines on standard output, in order up to the last one of the exit, because this thread writes them: what another thread writes
 * (`fs.write`, SonicBoom) may come after what the exit writes. Only the exit waits for the collector.
 */
export class Output implements DestinationStream {
  /** Bytes of one write. Where other processes have the same output, at most what a pipe takes at once or not at all, so that lines stay whole. */
  static longestWrite = Number.POSITIVE_INFINITY

  /** Reading this property makes pipes and sockets non-blocking. */
  readonly #fd = process.stdout.fd
  readonly #onDropped: (lines: number) => void
  #lines = ''
  readonly #chunks: Buffer[] = []
  /** Bytes in chunks. */
  #waiting = 0
  #dropped = 0
  #retry: NodeJS.Timeout | undefined

  /** @param onDropped is told how many lines were dropped, once the others are written */
  constructor(onDropped: (lines: number) => void) {
    this.#onDropped = onDropped
    setInterval(() => this.flush(), PERIOD_MS).unref()
    process.on('exit', () => {
      do {
        while (!this.#write()) Atomics.wait(PAUSE, 0, 0, 1)
      } while (this.#tellDropped())
    })
  }

  write(line: string): void {
    if (this.#waiting > MOST_WAITING) this.#dropped++
    else this.#lines += line
    if (this.#lines.length >= BATCH) this.flush()
  }

  /** Writes what the collector takes now; the rest follows, in order. */
  flush(done?: () => void): void {
    if (!this.#write()) {
      this.#retry ??= setTimeout(() => {
        this.#retry = undefined
        this.flush()
      }, RETRY_MS).unref()
    } else {
      this.#tellDropped()
    }
    done?.()
  }

  /** @returns whether there were any */
  #tellDropped(): boolean {
    const lines = this.#dropped
    this.#dropped = 0
    if (lines > 0) this.#onDropped(lines)
    return lines > 0
  }

  /** @returns false if the collector is behind */
  #write(): boolean {
    if (this.#lines !== '') {
      const chunk = Buffer.from(this.#lines)
      this.#lines = ''
      this.#chunks.push(chunk)
      this.#waiting += chunk.length
    }
    try {
      for (let [chunk] = this.#chunks; chunk !== undefined; [chunk] = this.#chunks) {
        const taken = writeSync(this.#fd, chunk, 0, nextWrite(chunk))
        this.#waiting -= taken
        if (taken < chunk.length) this.#chunks[0] = chunk.subarray(taken)
        else this.#chunks.shift()
      }
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EAGAIN') return false
      this.#chunks.length = 0
      this.#waiting = 0
      // An app whose log nobody reads any more (EPIPE) serves on. What else fails is not the failure of the handler that logs.
      if (code !== 'EPIPE')
        process.nextTick(() => {
          throw error
        })
    }
    return true
  }
}

/** Bytes of as many whole lines as fit into one write, at least one. */
function nextWrite(chunk: Buffer): number {
  const { longestWrite } = Output
  if (chunk.length <= longestWrite) return chunk.length
  return chunk.lastIndexOf('\n', longestWrite - 1) + 1 || chunk.indexOf('\n') + 1 || chunk.length
}
