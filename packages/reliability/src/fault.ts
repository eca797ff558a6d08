import type { App } from '@startgrid/grid/apps.ts'
import type { Subject } from './subject/subject.ts'

/** A failure that happens in production, and what an app must do then: a row of the matrix, and of docs/reliability.md. */
export interface Fault {
  /** Its name on the command line: `sigterm`. */
  readonly name: string
  /** Apps that may be tried at the same time without disturbing each other. */
  readonly atOnce: number
  /** Why this app cannot be tried, as a sentence; undefined if it can. */
  absent?(app: App): string | undefined
  /** Tries one app. @returns what went wrong, a sentence each; a thrown error counts as one */
  run(subject: Subject): Promise<string[]>
}
