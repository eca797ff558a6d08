import type { Request } from '../src/request.ts'

/** A request without NGINX, and the statuses and bodies that it got. */
export function fakeRequest(given: Partial<Pick<Request, 'args' | 'variables'>>) {
  const responses: [status: number, body?: string | undefined][] = []
  const request: Request = {
    args: {},
    headersIn: {},
    headersOut: {},
    variables: {},
    ...given,
    return: (...response) => void responses.push(response),
  }
  return { request, responses }
}
