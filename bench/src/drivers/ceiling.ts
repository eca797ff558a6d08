import type { Nginx } from '@startgrid/nginx/find.ts'
import { startNginx } from '@startgrid/nginx/instance.ts'
import type { Caution } from '../cautions.ts'
import { oneLine } from '../text.ts'
import type { Driver, SlicePlan } from './driver.ts'

export interface CeilingOptions {
  driver: Driver
  /** The core of NGINX. */
  cpu: number | undefined
  connections: number
  signal: AbortSignal
}

const MEASURED_MS = 600

/**
 * What the driver can ask for at most: NGINX's `return 200` costs next to nothing.
 * @returns answers per second; null after an abort, or if it could not be measured, which `warn` is told
 */
export async function measureCeiling(
  nginx: Nginx,
  options: CeilingOptions,
  warn: (caution: Caution) => void,
): Promise<number | null> {
  try {
    return await offerCeiling(nginx, options)
  } catch (error) {
    if (!options.signal.aborted) warn({ kind: 'ceiling-unknown', reason: oneLine(error) })
    return null
  }
}

async function offerCeiling(
  nginx: Nginx,
  { driver, cpu, connections, signal }: CeilingOptions,
): Promise<number | null> {
  const listen = { host: '127.0.0.1', port: 0 }
  const upstream = { host: '127.0.0.1', port: 1 } // never asked
  const fronts = [{ name: 'ceiling', topology: 'nginx', listen, upstream }] as const
  const instance = await startNginx(nginx, { fronts, ...(cpu !== undefined && { cpus: String(cpu) }) })
  try {
    const [target = listen] = instance.addresses
    const plan = { target, path: '/ceiling', connections, durationMs: MEASURED_MS, signal }
    await warm(driver, plan)
    if (signal.aborted) return null
    const { rate, errors } = await driver.run(plan)
    const failed = Object.values(errors).reduce((sum, count) => sum + count, 0)
    if (failed > 0 && !signal.aborted) throw new Error(`${failed} requests failed`)
    return signal.aborted ? null : rate
  } finally {
    await instance.stop()
  }
}

/** Load that is not counted, until the driver's own code is compiled. */
export async function warm(driver: Driver, plan: SlicePlan): Promise<void> {
  const { warmupMs } = driver.capabilities
  if (warmupMs > 0) await driver.run({ ...plan, durationMs: warmupMs })
}
