import { resolveTarget, type Target } from '../http/target.ts'
import type { LoadResult } from '../report/result.ts'
import { summarizeLoad } from '../report/summary.ts'
import { learn } from './learn.ts'
import { Load } from './load.ts'
import type { Measurement } from './measurement.ts'
import { requireOpenFiles } from './open-files.ts'
import { type LoadOptions, type LoadPlan, validatePlan } from './options.ts'
import type { Share } from './shares.ts'
import { ThreadTeam } from './thread-team.ts'

/**
 * Offers load to a server on this machine, or within the `reach` of the plan.
 *
 * In closed loop, each connection sends its next request as soon as it has a response. With a `rate` it is an open loop: requests
 * are sent when they are due, whether or not earlier ones have a response. All connections are opened before the clock starts.
 * Requests are counted if they are due between the end of the warm-up and the end of the load. The load then waits up to `timeoutMs`
 * for missing responses.
 * @param team threads that stay warm between loads; without it, a load of several threads starts and ends its own
 * @throws {LoadError} if the options are not valid, the target is out of reach, or too few files may be open
 */
export async function runLoad(options: LoadOptions, team?: ThreadTeam): Promise<LoadResult> {
  validatePlan(options)
  requireOpenFiles(options.connections)
  const target = await resolveTarget(options.target, options.reach)
  const known = await withLearnt(options, target)
  return summarizeLoad([await measure(known, target, team)], options.seriesMs)
}

async function withLearnt<Plan extends LoadPlan>(plan: Plan, target: Target): Promise<Plan> {
  const { expect } = plan
  return expect?.learn ? { ...plan, expect: await learn(expect, plan, target) } : plan
}

/**
 * Offers one generator's part of a load that several offer together. The load begins when `onPhase` says.
 * @throws {LoadError} as `runLoad`
 */
export async function measureShare(
  { plan, firstMs }: Share,
  options: Pick<LoadOptions, 'signal' | 'onPhase' | 'sharesCore'>,
): Promise<Measurement> {
  validatePlan(plan)
  requireOpenFiles(plan.connections)
  const target = await resolveTarget(plan.target, plan.reach)
  return new Load({ ...(await withLearnt(plan, target)), ...options }, target, { firstMs }).run()
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
