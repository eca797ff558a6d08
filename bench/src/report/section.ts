import type { Table } from '@startgrid/cli/table.ts'
import type { CellSpec } from '../model/result.ts'

/** A result cut into tables with what must be said beside each: the same for a terminal and for Markdown. */
export interface Section {
  /** Null if it is about several races. */
  race: Pick<CellSpec, 'role' | 'topology'> | null
  title: string
  table: Table
  /** Sentences. */
  notes: readonly string[]
}
