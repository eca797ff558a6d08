import type { Server } from 'node:http'
import { createHealthy } from './healthy.ts'

/** Responds as hello does, and keeps 50 kB of each. */
export function createDefect(): Server {
  const kept: Buffer[] = []
  return createHealthy((request, response) => {
    kept.push(Buffer.alloc(50_000, request.url))
    response.end('OK')
  })
}
