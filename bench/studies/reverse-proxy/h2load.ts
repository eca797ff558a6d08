import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { formatAddress } from '@startgrid/nginx/address.ts'
import { findNginx } from '@startgrid/nginx/find.ts'
import { startSystem } from '../../src/environments/native/systems.ts'
import type { Figures, ProbeContext, System } from '../../src/model/experiment.ts'
import { beginAccount, serversBeside } from '../account.ts'

/**
 * h2load (nghttp2) asks over HTTP/2, which Startgrid's generator does not speak. It is a closed loop in one process beside the servers, so only what
 * a request costs the servers counts.
 */

/** Connections, and requests that each has in flight. */
export interface H2Load {
  protocol: 'h2' | 'http/1.1'
  connections: number
  streams: number
}

/** A number instead of a time: on a busy machine, a second may end before 64 handshakes do. */
const REQUESTS = { quick: 10_000, full: 60_000 } as const
const WARMUP_REQUESTS = 20_000

/**
 * CPU of the servers per request.
 * @throws {Error} with a sentence, if it does not start or a response is wrong
 */
export async function measureH2load(
  system: System,
  load: H2Load,
  path: string,
  { quick, signal }: ProbeContext,
): Promise<Figures> {
  const nginx = await findNginx()
  if (nginx.kind === 'none') throw new Error('there is no NGINX')
  const { target, stop } = await startSystem(system, { nginx })
  try {
    if (!('port' in target)) throw new Error(`${system.title} listens on a socket`)
    const url = `https://${formatAddress(target)}${path}`
    await ask(url, load, WARMUP_REQUESTS, signal)
    const account = beginAccount(serversBeside())
    const responses = await ask(url, load, REQUESTS[quick ? 'quick' : 'full'], signal)
    const used = account()
    return used === undefined ? {} : { cpu: used.cpuSeconds / responses }
  } finally {
    await stop()
  }
}

/** @returns how many right responses there were */
async function ask(
  url: string,
  { protocol, connections, streams }: H2Load,
  count: number,
  signal: AbortSignal,
): Promise<number> {
  const counts = [`-c${connections}`, `-m${streams}`, `-n${count}`]
  const args = [...(protocol === 'h2' ? [] : ['--h1']), ...counts, url]
  const { stdout } = await promisify(execFile)('h2load', args, { signal })
  return readH2load(stdout, protocol)
}

/**
 * Responses with status 2xx, of what h2load prints.
 * @throws {Error} with a sentence, if another protocol was spoken or a request failed
 */
export function readH2load(output: string, protocol: string): number {
  const spoken = /^Application protocol: (\S+)$/m.exec(output)?.[1]
  const failed = /, (\d+) failed, (\d+) errored, (\d+) timeout$/m.exec(output)?.slice(1).map(Number)
  const [good = 0, ...others] =
    /^status codes: (\d+) 2xx, (\d+) 3xx, (\d+) 4xx, (\d+) 5xx$/m.exec(output)?.slice(1).map(Number) ?? []
  if (spoken !== protocol) throw new Error(`h2load spoke ${spoken ?? 'nothing'} instead of ${protocol}`)
  const wrong = [...(failed ?? []), ...others].reduce((sum, count) => sum + count, 0)
  if (failed === undefined || good === 0 || wrong > 0)
    throw new Error(`h2load counted ${wrong} failed requests beside ${good} right responses`)
  return good
}
