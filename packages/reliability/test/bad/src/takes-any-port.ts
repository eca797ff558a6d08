import type { Server } from 'node:http'
import { createHealthy } from './healthy.ts'

/** Starts in any case. */
export function createDefect(): Server {
  process.env.PORT = '0'
  return createHealthy()
}
