import type { Capability, Role } from '../../../src/contract/subject.ts'
import type { Behaviour } from '../behaviour.ts'

/** One way to break the contract, and the check that must notice. */
export interface Defect {
  name: string
  role: Role
  check: string
  behaviour: Partial<Behaviour>
  absent?: readonly Capability[]
  /** A proxy in front compresses. */
  compressed?: true
}

/** The check that most defects of a response fail. */
export const EVERY_ROUTE = 'every route responds'

export function hello(name: string, check: string, behaviour: Partial<Behaviour>): Defect {
  return { name, role: 'hello', check, behaviour }
}

export function status(name: string, check: string, behaviour: Partial<Behaviour>): Defect {
  return { name, role: 'status', check, behaviour }
}

export function ssr(name: string, check: string, behaviour: Partial<Behaviour>): Defect {
  return { name, role: 'ssr', check, behaviour }
}
