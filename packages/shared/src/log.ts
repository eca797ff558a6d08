import { type Logger, pino } from 'pino'
import type { Config } from './config.ts'

export type { Logger }

/** Bytes that wait for a reader of the log who has stopped reading. Further lines are dropped. */
const MAX_WAITING = 16 * 1024 * 1024

/** Milliseconds for which lines wait for others, to be written together: a write of its own wakes a thread, so that a line takes 38 µs more. */
const BLOCK_MS = 10

/** JSON lines on standard output, which the platform collects. They are written asynchronously, so that a slow reader stops no request. */
export function createLog({ LOG_LEVEL }: Config): Logger {
  const limits = { minLength: 4096, maxLength: MAX_WAITING }
  // While it writes it refuses to flush. So it flushes what is left once a second.
  const destination = pino.destination({ sync: false, periodicFlush: 1_000, ...limits })
  let isDue = false
  const flush = () => {
    isDue = false
    destination.flush()
  }
  const options = {
    level: LOG_LEVEL,
    base: null, // process id and host are what the platform adds
    redact: ['err.rawPacket'], // what the client sent, with its credentials: Node adds it to errors of its parser
    hooks: {
      streamWrite(line: string) {
        if (!isDue) setTimeout(flush, BLOCK_MS).unref()
        isDue = true
        return line
      },
    },
  }
  return pino(options, destination)
}
