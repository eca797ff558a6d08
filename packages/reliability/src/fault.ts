import type { App, Role } from '@startgrid/grid/apps.ts'
import type { Size, Subject } from './subject/subject.ts'

/** A failure that happens in production, and what an app must do then: a row of the matrix. */
export interface Fault {
  /** Its name on the command line: `sigterm`. */
  readonly name: string
  /** What is done to the app, a few words. */
  readonly title: string
  /** What must happen. */
  readonly expected: string
  /** Apps that may be tried at the same time without disturbing each other; 1 unless said. */
  readonly atOnce?: number
  /** The roles that it judges; all unless said. Of others only a crash counts. */
  readonly judged?: readonly Role[]
  /** Why this app cannot be tested, as a sentence for the report; undefined if it can. */
  absent?(app: App, size: Size): string | undefined
  /** Tests one app. A thrown error is a finding as well. */
  run(subject: Subject): Promise<Outcome>
}

/** What was seen. */
export interface Outcome {
  /** What went wrong, a sentence each. Empty: passed. */
  readonly findings: readonly string[]
  /** Why this machine cannot decide now, as a sentence. Without findings the result is neither passed nor failed. */
  readonly undecided?: string
  /** Measured beside it, for the report: `{ requests: 4210 }`. */
  readonly figures?: Readonly<Record<string, number | string>>
  /** Remarks about an app that passed, such as what it accepts against the RFC. */
  readonly notes?: readonly string[]
}
