import type { Fault } from '../fault.ts'
import { refusedStart } from './refused-start.ts'
import { sigterm } from './sigterm.ts'

/** The rows of the matrix, in its order. */
export const FAULTS: readonly Fault[] = [sigterm, refusedStart]
