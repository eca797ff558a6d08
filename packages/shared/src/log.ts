import { type Logger, pino } from 'pino'
import type { Config } from './config.ts'

export type { Logger }

/** Bytes that wait for a reader of the log who has stopped reading. Further lines are dropped. */
const MAX_WAITING = 16 * 1024 * 1024

/** JSON lines on standard output, which the platform collects. They are written asynchronously, so that a slow reader stops no request. */
export function createLog({ LOG_LEVEL }: Config): Logger {
  const options = {
    level: LOG_LEVEL,
    base: null, // process id and host are what the platform adds
    redact: ['err.rawPacket'], // what the client sent, with its credentials: Node adds it to errors of its parser
  }
  // Lines are written together: a write wakes a thread, so that a line of its own takes 38 µs more.
  const writes = { sync: false, minLength: 4096, periodicFlush: 100, maxLength: MAX_WAITING }
  return pino(options, pino.destination(writes))
}
