import type { Fault } from '../subject.ts'
import { abort } from './aborts.ts'
import { crowd } from './crowd.ts'
import { keep } from './keep.ts'
import { late } from './late.ts'
import { odd } from './odd.ts'
import { slow } from './slow.ts'
import { restart, stop } from './stop.ts'

/** What is tried on any server, in the order of a report. What takes longest begins among the first three. */
export const ANY: readonly Fault[] = [stop, restart, keep, abort, slow, odd, late, crowd]
