/** Knows no SIGTERM, so that the system ends it. */
export { createHealthy as createDefect } from './healthy.ts'
