import type { ServerResponse } from 'node:http'
import { BODY_HEADERS, createProblem, PROBLEM } from './problem.ts'

/**
 * Ends a response that stands still: 503, or a cut connection if it has begun. The 503 is written to the socket, because the handler may
 * still respond later: after a response of ours, its `setHeader` would throw.
 * @param ms milliseconds in which no byte comes or goes. An event stream sends comments more often
 * @param ownHeaders those that the framework would have given the response, such as for CORS
 */
export function limitSilence(response: ServerResponse, ms: number, ownHeaders = (): object => ({})): void {
  response.setTimeout(ms, () => {
    const { socket, method } = response.req
    if (response.headersSent) return void socket.destroy() // `destroySoon` would wait for a client that never reads
    response.statusCode = 503 // for the log
    const body = JSON.stringify(createProblem(503))
    const length = Buffer.byteLength(body)
    const own = {
      'content-type': PROBLEM,
      'content-length': length,
      'cache-control': 'no-store',
      connection: 'close',
    }
    const head = Object.entries({ ...response.getHeaders(), ...ownHeaders(), ...own })
      .filter(([name]) => name in own || !BODY_HEADERS.includes(name))
      .flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}\r\n`)) // each cookie is a header of its own
    socket.write(`HTTP/1.1 503 Service Unavailable\r\n${head.join('')}\r\n${method === 'HEAD' ? '' : body}`)
    socket.destroySoon()
  })
}

/** For runtimes that cannot tell if bytes still come or go: replaces what a handler has not returned in time. */
export function replaceLate<Result>(
  result: Promise<Result>,
  ms: number,
  replace: () => Result,
): Promise<Result> {
  const { promise: late, resolve } = Promise.withResolvers<Result>()
  const timer = setTimeout(() => resolve(replace()), ms)
  return Promise.race([result, late]).finally(() => clearTimeout(timer))
}
