import type { Check } from '../check.ts'
import { assets } from './assets.ts'
import { bodies } from './bodies.ts'
import { connections } from './connections.ts'
import { ids } from './ids.ts'
import { log } from './log.ts'
import { page } from './page.ts'
import { routes } from './routes.ts'
import { stream } from './stream.ts'

/** All checks, in the order of the contract. */
export const CHECKS: readonly Check[] = [
  ...routes,
  ...page,
  ...stream,
  ...assets,
  ...bodies,
  ...ids,
  ...connections,
  ...log,
]
