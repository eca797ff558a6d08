import { oneLine } from '@startgrid/cli/text.ts'
import type { Target } from '@startgrid/grid/launcher.ts'
import type { Nginx } from '@startgrid/nginx/find.ts'
import { startNginx } from '@startgrid/nginx/instance.ts'
import type { Warning } from '../model/warnings.ts'
import type { Driver, SlicePlan } from './driver.ts'

interface CeilingOptions {
  driver: Driver
  connections: number
  signal: AbortSignal
}

/** An NGINX that responds to `/ceiling` itself. */
export interface CeilingServer {
  target: Target
  stop(): Promise<void>
}

const MEASURED_MS = 600

/**
 * What the driver can ask for at most: NGINX's `return 200` costs next to nothing.
 * @param start of the server; undefined if there is none
 * @returns responses per second; null without a server, after an abort, or if it could not be measured, which `warn` is told
 */
export async function measureCeiling(
  start: () => Promise<CeilingServer | undefined>,
  options: CeilingOptions,
  warn: (warning: Warning) => void,
): Promise<number | null> {
  try {
    const server = await start()
    return server === undefined ? null : await offerCeiling(server, options)
  } catch (error) {
    if (!options.signal.aborted) warn({ kind: 'ceiling-unknown', reason: oneLine(error) })
    return null
  }
}

async function offerCeiling(
  server: CeilingServer,
  { driver, connections, signal }: CeilingOptions,
): Promise<number | null> {
  try {
    const plan = { target: server.target, path: '/ceiling', connections, durationMs: MEASURED_MS, signal }
    await warm(driver, plan)
    if (signal.aborted) return null
    const { rate, errors } = await driver.run(plan)
    const failed = Object.values(errors).reduce((sum, count) => sum + count, 0)
    if (failed > 0 && !signal.aborted) throw new Error(`${failed} requests failed`)
    return signal.aborted ? null : rate
  } finally {
    await server.stop()
  }
}

/**
 * As a process of this machine.
 * @param cpu the core of NGINX
 * @throws {Error} if it does not start
 */
export async function startNginxCeiling(nginx: Nginx, cpu: number | undefined): Promise<CeilingServer> {
  const listen = { host: '127.0.0.1', port: 0 }
  const upstream = { host: '127.0.0.1', port: 1 } // never asked
  const fronts = [{ name: 'ceiling', topology: 'nginx', listen, upstream }] as const
  const instance = await startNginx(nginx, { fronts, ...(cpu !== undefined && { cpus: String(cpu) }) })
  const [target = listen] = instance.addresses
  return { target, stop: () => instance.stop() }
}

/** Load that is not counted, until the driver's own code is compiled. */
export async function warm(driver: Driver, plan: SlicePlan): Promise<void> {
  const { warmupMs } = driver.capabilities
  if (warmupMs > 0) await driver.run({ ...plan, durationMs: warmupMs })
}
