import type { Config } from './config.ts'
import type { Lifecycle } from './lifecycle.ts'
import type { Logger } from './log.ts'

/** What `createApp` gets. */
export interface AppOptions {
  config: Config
  lifecycle: Lifecycle
  log: Logger
}
