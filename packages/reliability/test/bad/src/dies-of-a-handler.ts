import { createServer, type Server } from 'node:http'

/** Nobody catches what a handler throws. */
export function createDefect(): Server {
  return createServer((request) => {
    throw new Error(`${request.url} fails`)
  })
}
