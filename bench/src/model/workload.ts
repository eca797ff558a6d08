import type { BodyExpectation } from '@startgrid/loadgen'

/** A request as it is sent. The values of headers and the body are in no result. */
export interface Asked {
  /** Path and query as in the request line. */
  path: string
  /** Default GET. */
  method?: string
  headers?: Record<string, string>
  /** Sent in UTF-8. */
  body?: string
}

/** What is asked of an app, and what a right response is. */
export interface Workload extends Asked {
  expect: BodyExpectation
  /** Default 200. */
  status?: number
  /** It says all that is known of the response: the length is not learnt besides. */
  isProven?: true
}

/** `GET /api/items` */
export function nameAsked({ method = 'GET', path }: Asked): string {
  return `${method} ${path}`
}
