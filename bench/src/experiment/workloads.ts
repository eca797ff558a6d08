import type { Role } from '@startgrid/grid/apps.ts'
import { exactly } from '@startgrid/loadgen/expectation.ts'
import { ask } from '@startgrid/wire/client.ts'
import { NoResponse } from '@startgrid/wire/reader.ts'
import type { Target } from '@startgrid/wire/target.ts'
import type { Workload } from '../result/experiment.ts'

/** The page with so many items. */
export function pageOf(items: number): Workload {
  const expect = { includes: ['<!DOCTYPE html>', `${items} of ${items}`, '</html>'] }
  return { path: `/?items=${items}`, expect }
}

/** The main workload of each role. */
export const WORKLOADS: Readonly<Record<Role, Workload>> = {
  hello: { path: '/json', expect: exactly('{"hello":"world"}') },
  // The nonce and the request id differ in every response, but not in length: the length is learnt before the load.
  ssr: { ...pageOf(50), path: '/' },
  status: { path: '/_/status', expect: exactly('OK') },
}

/**
 * The same workload, with the length of a response added. It is the same for every app: equal work. An app that responds otherwise
 * has its number voided by the load itself.
 * @returns the workload as it was if its length is known, or if this app does not respond within 10 s
 */
export async function learnLength(workload: Workload, target: Target): Promise<Workload> {
  const { path, expect, isProven } = workload
  if (expect.bytes !== undefined || isProven) return workload
  const response = await ask(target, { target: path }, { timeoutMs: 10_000 }).catch((error: unknown) => {
    if (!(error instanceof NoResponse)) throw error
  })
  // What is wrong with the app shows under load.
  return response?.status === 200 ? { path, expect: { ...expect, length: response.body.length } } : workload
}
