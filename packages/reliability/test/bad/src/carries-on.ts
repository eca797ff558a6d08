import type { Server } from 'node:http'
import { createHealthy } from './healthy.ts'

/** Ignores what nobody has caught. */
export function createDefect(): Server {
  process.on('uncaughtException', () => {}).on('unhandledRejection', () => {})
  return createHealthy()
}
