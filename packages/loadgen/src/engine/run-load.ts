import { resolveTarget, type Target } from '../http/target.ts'
import type { LoadResult } from '../report/result.ts'
import { summarizeLoad } from '../report/summary.ts'
import { learn } from './learn.ts'
import { Load } from './load.ts'
import type { Measurement } from './measurement.ts'
import { requireOpenFiles } from './open-files.ts'
import { type LoadOptions, validatePlan } from './options.ts'
import { ThreadTeam } from './thread-team.ts'

/**
 * Offers load to a server on this machine, or within the `reach` of the plan.
 *
 * In closed loop each connection sends its next request as soon as one is answered; with a `rate` it is an open loop: requests
 * are sent when they are due, whatever became of those before. All connections are opened first, then the clock starts. Requests
 * that are due after the warm-up and before the end of the duration are counted; those unanswered then are waited for, up to
 * `timeoutMs`.
 * @param team threads that stay warm from load to load; without, a load of several threads starts and ends its own
 * @throws {LoadError} if the options are unusable, the target is out of reach, or too few files may be open
 */
export async function runLoad(options: LoadOptions, team?: ThreadTeam): Promise<LoadResult> {
  validatePlan(options)
  requireOpenFiles(options.connections)
  const target = await resolveTarget(options.target, options.reach)
  const { expect } = options
  const known = expect?.learn ? { ...options, expect: await learn(expect, options, target) } : options
  return summarizeLoad(await measure(known, target, team), options.seriesMs)
}

async function measure(
  options: LoadOptions,
  target: Target,
  team: ThreadTeam | undefined,
): Promise<Measurement[]> {
  if ((options.threads ?? 1) === 1) return [await new Load(options, target).run()]
  return runThreads(options, target, team)
}

async function runThreads(
  options: LoadOptions,
  target: Target,
  team: ThreadTeam | undefined,
): Promise<Measurement[]> {
  if (team !== undefined) return team.run(options, target)
  const own = new ThreadTeam()
  try {
    return await own.run(options, target)
  } finally {
    await own.close()
  }
}
