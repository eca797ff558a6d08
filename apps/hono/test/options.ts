import { EventEmitter, once } from 'node:events'
import { pino } from 'pino'
import { Health } from '#shared/http/health.ts'
import { readConfig } from '#shared/process/config.ts'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import type { Runtime } from '../src/middleware/access-log.ts'

interface Line {
  level: number
  msg: string
  [field: string]: unknown
}

export const INFO = 30
export const ERROR = 50

/** For `app.request()`, which has no connection. */
const runtime: Runtime = { getConnInfo: () => ({ remote: { address: '127.0.0.1' } }) }

/** Options for an app under test. Its log lines go to an array instead of standard output. */
export function createOptions(env: Record<string, string> = {}) {
  const lines: Line[] = []
  const written = new EventEmitter()
  const destination = {
    write(text: string) {
      lines.push(JSON.parse(text))
      written.emit('line')
    },
  }
  const options: AppOptions & { runtime: Runtime } = {
    // No page is refused because the machine is busy.
    config: readConfig({ MAX_QUEUE_WAIT_MS: '0', ...env }),
    health: new Health(),
    log: pino({ level: 'trace' }, destination),
    runtime,
  }

  /** All lines, as soon as there are so many: a response may be here before its line is written. */
  async function readLines(count: number): Promise<Line[]> {
    while (lines.length < count) await once(written, 'line', { signal: AbortSignal.timeout(120_000) })
    return lines
  }

  return { ...options, readLines }
}
