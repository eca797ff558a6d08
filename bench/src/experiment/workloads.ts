import type { Role } from '@startgrid/grid/apps.ts'
import { exactly } from '@startgrid/loadgen/expectation.ts'
import { LoadError } from '@startgrid/loadgen/plan.ts'
import type { Target } from '@startgrid/wire/target.ts'
import type { LastingGenerator } from '../load/generator.ts'
import type { Workload } from '../result/experiment.ts'

/** The main workload of each role. */
export const WORKLOADS: Readonly<Record<Role, Workload>> = {
  hello: { path: '/json', expect: exactly('{"hello":"world"}') },
  // The nonce and the request id differ in every response, but not in length: the length is learnt before the load.
  ssr: { path: '/', expect: { includes: ['<!DOCTYPE html>', '50 of 50', '</html>'] } },
  status: { path: '/_/status', expect: exactly('OK') },
}

/**
 * The same workload, with the length of a response added. It is the same for every app: equal work. An app that responds otherwise
 * has its number voided by the load itself.
 * @returns the workload as it was if its length is known, or if this app does not respond within 10 s
 */
export async function learnLength(
  workload: Workload,
  target: Target,
  generator: Pick<LastingGenerator, 'responseLength'>,
): Promise<Workload> {
  const { path, expect, isProven } = workload
  if (expect.bytes !== undefined || isProven) return workload
  try {
    return { path, expect: { ...expect, length: await generator.responseLength({ target, path }) } }
  } catch (error) {
    if (error instanceof LoadError) return workload // what is wrong with the app shows under load
    throw error
  }
}
