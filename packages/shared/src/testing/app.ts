import { EventEmitter, once } from 'node:events'
import { createServer, type RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { AppOptions } from '../app-options.ts'
import { Settings } from '../config.ts'
import { Lifecycle } from '../lifecycle.ts'
import { createLog } from '../log.ts'

interface Line {
  level: number
  msg: string
  [field: string]: unknown
}

export const INFO = 30
export const WARN = 40
export const ERROR = 50

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
  const log = createLog({ LOG_LEVEL: 'trace' }, destination)
  const options: AppOptions = {
    config: Settings.parse({ MAX_QUEUE_WAIT_MS: '0', ...env }), // no page is refused because the machine is busy
    lifecycle: new Lifecycle(log),
    log,
  }

  /** All lines, as soon as there are so many: a response may be here before its line is written. */
  async function readLines(count: number): Promise<Line[]> {
    while (lines.length < count) await once(written, 'line', { signal: AbortSignal.timeout(120_000) })
    return lines
  }

  return { ...options, readLines }
}

/** An app, or the server of one, on a free port, closed at the end of the block. */
export async function serve(app: RequestListener | Server) {
  const server = app instanceof Server ? app : createServer(app)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** Starts an app on a free port. It is closed at the end of the block. */
export type Start = (options: AppOptions) => Promise<{ url: string } & AsyncDisposable>
