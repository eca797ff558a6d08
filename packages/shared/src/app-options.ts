import type { Config } from './config.ts'
import type { Health } from './health.ts'
import type { Logger } from './log.ts'

/** What `createApp` gets. */
export interface AppOptions {
  config: Config
  health: Health
  log: Logger
}
