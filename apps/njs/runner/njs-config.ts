import type { Nginx } from '@startgrid/nginx/find.ts'
import { StartError } from '#shared/process/config.ts'

/** Settings that only njs has: NJS_WORKERS and NJS_ENGINE. */
export interface NjsConfig {
  /** NGINX processes that serve requests, 1 to 64. */
  workers: number
  /** Undefined: the better engine of this NGINX. */
  engine: 'njs' | 'qjs' | undefined
}

/** @throws {StartError} naming the variable, its value and what is allowed */
export function readNjsConfig({
  NJS_WORKERS: workers = '1',
  NJS_ENGINE: engine,
}: NodeJS.ProcessEnv): NjsConfig {
  if (!/^([1-9]|[1-5]\d|6[0-4])$/.test(workers))
    throw new StartError(
      `NJS_WORKERS is ${JSON.stringify(workers)}, but must be a whole number from 1 to 64.`,
    )
  if (engine !== undefined && engine !== 'njs' && engine !== 'qjs')
    throw new StartError(`NJS_ENGINE is ${JSON.stringify(engine)}, but must be njs or qjs.`)
  return { workers: Number(workers), engine }
}

/**
 * The same NGINX with the engine that was asked for. An NGINX with QuickJS also has njs's own engine.
 * @throws {StartError} if it lacks that engine
 */
export function withEngine(nginx: Nginx, engine: NjsConfig['engine']): Nginx {
  const { njs } = nginx
  if (engine === undefined || njs === undefined || njs.engine === engine) return nginx
  if (engine === 'qjs')
    throw new StartError(`${nginx.describe()} has no QuickJS: choose another one with STARTGRID_NGINX.`)
  return { ...nginx, njs: { ...njs, engine } }
}
