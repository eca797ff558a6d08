import type { Fault } from '../fault.ts'
import { refusedStart } from './refused-start.ts'

/** The rows of the matrix, in its order. */
export const FAULTS: readonly Fault[] = [refusedStart]
