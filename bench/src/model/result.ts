import type { Machine } from '@startgrid/machine/machine.ts'
import type { Versions } from '@startgrid/machine/provenance.ts'
import type { MachineWarning } from '@startgrid/machine/state.ts'
import type { Cell, ConformanceRecord } from './cell.ts'
import type { Analysis, PilotRecord } from './figures.ts'
import type { Heat, Trial } from './heat.ts'
import type { Settings } from './settings.ts'

/**
 * A run as it is stored. What was measured (`heats`) is kept apart from what follows from it (`analysis`).
 */
interface Measured {
  /** Of this format. */
  schema: 6
  /** ISO 8601, UTC. */
  startedAt: string
  /** ISO 8601, UTC; null while it runs and after an interruption. */
  finishedAt: string | null
  /** What repeats the run, for a shell. */
  command: string
  /** Of the random order of heats and slices. */
  seed: number
  machine: Machine
  versions: Versions
  /** Null if none was needed or found. */
  nginx: NginxVersion | null
  settings: Settings
  /** Part of this virtual machine's CPU that its host took meanwhile, 0 to 1; 0 where nobody knows. */
  stolen: number
  /** What all heats would have taken, in milliseconds: whole ten seconds; null if none was dropped. */
  enoughMs: number | null
  /** The most important first. */
  warnings: Warning[]
  cells: Cell[]
  /** Once per cell before the first heat. */
  conformance: ConformanceRecord[]
  /** In the order in which they ran. */
  heats: Heat[]
}

/** Of the grid. */
export interface RaceResult extends Measured {
  kind: 'rate'
  /** Null before the first heat. */
  analysis: Analysis | null
}

export interface StudyResult extends Measured {
  kind: 'study'
  study: string
  race?: RaceRecord
  /** Null before the first heat. */
  analysis: Analysis | null
}

/** What a file of a run has, whatever was measured. */
export type StoredResult = RaceResult | StudyResult

/** What was measured, without what follows from it. */
export type Run = Measured & { kind: StoredResult['kind'] }

/** What a reader must know: what is the matter and what to do, in a sentence or two. */
export interface Warning {
  kind:
    | MachineWarning['kind']
    | ('tools' | 'time' | 'not-saved' | 'race')
    // These follow from the figures; all others were seen while it ran.
    | ('shared-core' | 'external' | 'accounting' | 'disturbed' | 'suspect')
  text: string
}

export interface NginxVersion {
  /** Where it was found: path or download. */
  kind: string
  version: string
  /** Its njs module; the engine is qjs (QuickJS) or njs (the old one). */
  njs: { version: string; engine: string } | null
}

/** What was asked of a race of commands. No value of a header or of the environment is in it. */
export interface RaceRecord {
  /** The first one is what the others are compared with. A command is started, a URL ran already, a commit was checked out. */
  systems: {
    name: string
    command: string | null
    url: string | null
    commit: string | null
    /** Of a command: `node 22.15.0 and npm 10.9.2`, as far as they are on the person's PATH. */
    tools?: string
  }[]
  /** What is asked, with names of headers alone. A weight says how often it is drawn among others; null: it is a race of its own. */
  requests: {
    name: string
    method: string
    path: string
    weight: number | null
    headers: string[]
    bodyBytes: number | null
  }[]
  connections: number
  /** The system that equals the first one, to know the noise; null if there is none. */
  twin: string | null
  /** Half-width of intervals, as a part of 1, for which the number of heats is chosen after the first ones; null: all are planned. */
  precision: number | null
  /** Empty until it is measured. */
  pilots: PilotRecord[]
}

export function isRace(result: StoredResult): result is RaceResult {
  return result.kind === 'rate'
}

/** All open loops of a run, in the order in which they were measured. */
export function trialsOf({ heats }: Pick<Run, 'heats'>): Trial[] {
  return heats.flatMap(({ trials }) => trials)
}
