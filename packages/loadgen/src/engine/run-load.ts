import { tlsOptions } from '@startgrid/wire/target.ts'
import { openSession, resolveTarget } from '../http/target.ts'
import type { LoadResult } from '../report/result.ts'
import { summarizeLoad } from '../report/summary.ts'
import { Load } from './load.ts'
import type { Measurement } from './measurement.ts'
import { requireOpenFiles } from './open-files.ts'
import { type LoadOptions, validatePlan } from './options.ts'

/**
 * Offers load to a server on this machine, or on a private network.
 *
 * In closed loop, each connection sends its next request as soon as it has a response. With a `rate` it is an open loop: requests
 * are sent when they are due, whether or not earlier ones have a response. All connections are opened before the clock starts.
 * Requests are counted if they are due between the end of the warm-up and the end of the load. The load then waits up to `timeoutMs`
 * for missing responses.
 * @throws {LoadError} if the options are not valid, the target is out of reach, or too few files may be open
 */
export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  return summarizeLoad([await measureLoad(options)])
}

/**
 * Offers a load, or one generator's part of it.
 * @throws {LoadError} as `runLoad`
 */
export async function measureLoad(options: LoadOptions): Promise<Measurement> {
  validatePlan(options)
  requireOpenFiles(options.connections)
  const target = await resolveTarget(options.target)
  let tls = tlsOptions(options.target)
  if (options.resume) tls = { ...tls, session: await openSession(target, tls) }
  return new Load(options, target, tls).run()
}
