import type { Patience } from '@startgrid/wire/client.ts'
import type { Target } from '@startgrid/wire/target.ts'
import type { Session } from './judge.ts'

export type Role = 'hello' | 'ssr' | 'status'

export const ROLES: readonly Role[] = ['hello', 'ssr', 'status']

/** What an app may lack. */
export type Capability = 'stream'

export const CAPABILITIES: readonly Capability[] = ['stream']

/** The server under test and what is known about it. */
export interface Subject extends Patience {
  target: Target
  role: Role
  absent: readonly Capability[]
  session: Session
  /** All that the server has logged so far; undefined where nobody can read it. */
  log: (() => string) | undefined
  /** URLs of the assets that the page loads. */
  assets: () => Promise<readonly string[]>
}
