import type { BodyExpectation } from '@startgrid/loadgen'

/** What is asked of an app, and what a right response is. */
export interface Workload {
  path: string
  expect: BodyExpectation
}
