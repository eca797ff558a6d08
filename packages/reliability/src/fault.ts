import type { App } from '@startgrid/grid/matrix.ts'
import type { Subject } from './subject/subject.ts'

/** Something that goes wrong in production, and what an app must do then: a row of the matrix. */
export interface Fault {
  /** The word for it on the command line: `sigterm`. */
  readonly name: string
  /** What is done to the app, a few words. */
  readonly title: string
  /** What must happen. */
  readonly expected: string
  /** Apps that may be tried at the same time without disturbing each other; 1 unless said. */
  readonly atOnce?: number
  /** Why this app cannot be tried at all, as a sentence for the report; undefined if it can. */
  absent?(app: App, size: Size): string | undefined
  /** Does it to one app. What it throws is a finding as well. */
  run(subject: Subject): Promise<Outcome>
}

/** What was seen. */
export interface Outcome {
  /** What should not have happened, a sentence each; none: passed. */
  readonly findings: readonly string[]
  /** Why this machine cannot tell now, a sentence; without findings it is neither passed nor failed. */
  readonly undecided?: string
  /** Measured beside it, for the report: `{ requests: 4210 }`. */
  readonly figures?: Readonly<Record<string, number | string>>
  /** What a reader of the matrix should know about this app although it passed: what it accepts against the RFC, say. */
  readonly notes?: readonly string[]
}

export type Size = 'short' | 'full'
