import type { Server } from 'node:http'
import { createHealthy } from './healthy.ts'

/** Ends with 0, and with every connection, whatever is on its way. */
export function createDefect(): Server {
  process.on('SIGTERM', () => process.exit(0))
  return createHealthy()
}
