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
