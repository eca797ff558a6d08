import { createServer, type Server } from 'node:http'
import { healthy } from './wire.ts'

/** Node's parser with all its leniencies, and nothing that refuses what it lets pass. */
export function createDefect(): Server {
  return createServer({ insecureHTTPParser: true, requireHostHeader: false }, healthy)
}
