import { request } from 'node:http'
import type { Target } from '@startgrid/grid/launcher.ts'
import type { Role } from '@startgrid/grid/matrix.ts'
import { type BodyExpectation, exactly } from '@startgrid/loadgen'

/** What is asked of an app, and what a right answer is. */
export interface Workload {
  path: string
  expect: BodyExpectation
}

/** The main workload of each role. */
export const WORKLOADS: Readonly<Record<Role, Workload>> = {
  hello: { path: '/json', expect: exactly('{"hello":"world"}') },
  // The nonce and the request id differ in every answer, but not in length: the length is learnt before the load.
  ssr: { path: '/', expect: { includes: ['<!DOCTYPE html>', '50 of 50', '</html>'] } },
  status: { path: '/_/status', expect: exactly('OK') },
}

/**
 * The same workload, with the length of an answer added. It is the same for every app: equal work. Whoever answers otherwise
 * has its number voided by the load itself.
 * @returns the workload as it was if its length is known, or if this app does not answer within 10 s
 */
export async function learnLength(workload: Workload, target: Target): Promise<Workload> {
  if (workload.expect.bytes !== undefined) return workload
  try {
    return { ...workload, expect: { ...workload.expect, length: await askLength(target, workload.path) } }
  } catch {
    return workload // what is wrong with the app shows under load
  }
}

function askLength(target: Target, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    request({ ...target, path, agent: false, signal: AbortSignal.timeout(10_000) }, async (answer) => {
      try {
        let length = 0
        for await (const chunk of answer) length += (chunk as Buffer).length
        if (answer.statusCode === 200) resolve(length)
        else reject(new Error(`status ${answer.statusCode}`))
      } catch (error) {
        reject(error)
      }
    })
      .once('error', reject)
      .end()
  })
}
