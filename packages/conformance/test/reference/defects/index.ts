import { assets } from './assets.ts'
import { compression } from './compression.ts'
import { connections } from './connections.ts'
import type { Defect } from './defect.ts'
import { head } from './head.ts'
import { headers } from './headers.ts'
import { health } from './health.ts'
import { ids } from './ids.ts'
import { log } from './log.ts'
import { methods } from './methods.ts'
import { page } from './page.ts'
import { refusals } from './refusals.ts'
import { routes } from './routes.ts'
import { stream } from './stream.ts'

/** One faulty server for every way to break the contract. */
export const DEFECTS: readonly Defect[] = [
  ...headers,
  ...routes,
  ...methods,
  ...head,
  ...refusals,
  ...ids,
  ...health,
  ...log,
  ...page,
  ...compression,
  ...stream,
  ...assets,
  ...connections,
]
