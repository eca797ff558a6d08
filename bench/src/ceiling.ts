import { sumErrors } from '@startgrid/loadgen'
import type { Nginx } from '@startgrid/nginx/find.ts'
import { startNginx } from '@startgrid/nginx/instance.ts'
import type { Driver } from './driver.ts'
import { oneLine } from './text.ts'

export interface CeilingOptions {
  driver: Driver
  /** The core of NGINX. */
  cpu: number | undefined
  connections: number
  signal: AbortSignal
}

const PATH = '/ceiling'

/**
 * What the generator can ask for at most: NGINX's `return 200` costs next to nothing.
 * @returns answers per second; null after an abort, or if it could not be measured, which `warn` is told in a sentence
 */
export async function measureCeiling(
  nginx: Nginx,
  options: CeilingOptions,
  warn: (text: string) => void,
): Promise<number | null> {
  try {
    return await offerCeiling(nginx, options)
  } catch (error) {
    if (!options.signal.aborted) warn(`The generator's ceiling was not measured: ${oneLine(error)}.`)
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
    const [target] = instance.addresses
    if (target === undefined) return null
    const load = await driver.run({
      target,
      path: PATH,
      connections,
      warmupMs: 500,
      durationMs: 1000,
      signal,
    })
    const failed = sumErrors(load.errors)
    if (failed > 0 && !signal.aborted) throw new Error(`${failed} requests failed`)
    return signal.aborted ? null : load.rate
  } finally {
    await instance.stop()
  }
}
