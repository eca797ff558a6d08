import type { Nginx } from '@startgrid/nginx/find.ts'
import { StartError } from '#shared/process/config.ts'

/** What the environment tells an app of njs beside `Config`: NJS_WORKERS and NJS_ENGINE. */
export interface NjsConfig {
  /** Processes of NGINX that answer, 1 to 64. */
  workers: number
  /** Undefined: the better one that the NGINX has. */
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
 * The same NGINX, running JavaScript on the engine that was asked for: one with QuickJS has njs's own as well.
 * @throws {StartError} if it has not
 */
export function withEngine(nginx: Nginx, engine: NjsConfig['engine']): Nginx {
  const { njs } = nginx
  if (engine === undefined || njs === undefined || njs.engine === engine) return nginx
  if (engine === 'qjs')
    throw new StartError(`${nginx.describe()} has no QuickJS: choose another one with STARTGRID_NGINX.`)
  return { ...nginx, njs: { ...njs, engine } }
}
