import cluster from 'node:cluster'
import { type Logger, pino } from 'pino'
import type { Config } from './config.ts'

export type { Logger }

/** JSON lines on standard output; collecting them is the platform's work (https://12factor.net/logs). */
export function createLogger(app: string, config: Pick<Config, 'logLevel'>): Logger {
  const base = cluster.worker === undefined ? { app } : { app, worker: cluster.worker.id }
  return pino({ base, level: config.logLevel })
}

/** A line that is written whatever the level: people and launchers need it. */
export function announce(log: Logger, fields: object, message: string): void {
  log.child({}, { level: 'info' }).info(fields, message)
}

export interface Answer {
  id: string
  method: string
  /** The request target, with its query. */
  url: string
  status: number
  /** Milliseconds from the request to the end of its answer. */
  ms: number
  client: string | undefined
}

/** One line per answered request. */
export function logAnswer(log: Logger, { ms, ...answer }: Answer): void {
  log.info({ ...answer, ms: Math.round(ms * 1000) / 1000 }, 'answered')
}

/** Whether requests are logged at all; where not, an app need not even listen for their end. Probes never are. */
export function logsAnswers(log: Logger): boolean {
  return log.isLevelEnabled('info')
}

/** Whether an error only says that the client left before it had the whole answer: nothing of ours failed. */
export function isDeparture(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'ECONNRESET' || code === 'EPIPE'
}

/** One line per request that we failed, with the cause and the id that the client was given. */
export function logFailure(log: Logger, id: string, error: unknown): void {
  log.error({ id, err: error }, 'failed')
}
