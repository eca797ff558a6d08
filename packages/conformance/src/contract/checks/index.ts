import type { Check } from '../check.ts'
import { assets } from './assets.ts'
import { bodies } from './bodies.ts'
import { connections } from './connections.ts'
import { counts } from './counts.ts'
import { head } from './head.ts'
import { health } from './health.ts'
import { ids } from './ids.ts'
import { limits } from './limits.ts'
import { log } from './log.ts'
import { methods } from './methods.ts'
import { names } from './names.ts'
import { page } from './page.ts'
import { refusals } from './refusals.ts'
import { routes } from './routes.ts'
import { stream } from './stream.ts'

/** All checks, in the order of the contract. */
export const CHECKS: readonly Check[] = [
  ...routes,
  ...names,
  ...counts,
  ...page,
  ...stream,
  ...health,
  ...methods,
  ...head,
  ...refusals,
  ...bodies,
  ...limits,
  ...ids,
  ...assets,
  ...connections,
  ...log,
]
