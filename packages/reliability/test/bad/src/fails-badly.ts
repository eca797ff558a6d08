import { createServer, type Server, type ServerResponse } from 'node:http'
import { PROBLEM_JSON } from '@startgrid/shared/http/contract.ts'
import { problem } from '@startgrid/shared/http/problem.ts'

/** Handlers fail as in fixtures/, and each is dealt with wrongly in its own way, but for the last. */
export function createDefect(): Server {
  return createServer((request, response) => {
    const { url = '' } = request
    response.setHeader('x-request-id', String(request.headers['x-request-id']))
    const fail = FAILURES[url]
    if (fail === undefined) response.end()
    else fail(response)
  })
}

const FAILURES: Readonly<Record<string, (response: ServerResponse) => void>> = {
  '/throws': (response) => {
    log(response)
    response.writeHead(500).end(`${new Error('secret').stack}`)
  },
  '/rejects': (response) => {
    response.writeHead(500, { 'content-type': PROBLEM_JSON }).end(problem(500))
  },
  '/breaks': (response) => {
    log(response)
    response.end('half')
  },
  '/breaks/as/a/stream': (response) => {
    log(response)
    log(response)
    response.destroy()
  },
  '/hangs': log,
  '/stalls': (response) => {
    log(response, 'it was silent for 1000 ms')
    response.destroy()
  },
}

function log(response: ServerResponse, cause = 'unknown'): void {
  const id = response.getHeader('x-request-id')
  process.stdout.write(`${JSON.stringify({ level: 50, id, cause })}\n`)
}
