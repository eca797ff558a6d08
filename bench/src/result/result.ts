import type { Machine, MachineWarning } from '@startgrid/machine/machine.ts'
import type { Versions } from '@startgrid/machine/provenance.ts'
import type { Cell, ConformanceRecord } from './cell.ts'
import type { Experiment } from './experiment.ts'
import type { Analysis, PilotRecord } from './figures.ts'
import type { Heat } from './heat.ts'
import type { Settings } from './settings.ts'

/**
 * A run as it is stored. What was measured (`heats`) is kept apart from what follows from it (`analysis`).
 */
export interface Result {
  /** Of this format. */
  schema: 7
  /** ISO 8601, UTC. */
  startedAt: string
  /** ISO 8601, UTC; null while it runs and after an interruption. */
  finishedAt: string | null
  /** What repeats the run, for a shell. */
  command: string
  /** What was measured, as data (`toldOf`): without functions, and without values that may be secret. */
  experiment: Experiment
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
  /** Of races of commands; empty until they are measured. */
  pilots: PilotRecord[]
  /** In the order in which they ran. */
  heats: Heat[]
  /** Null before the first heat. */
  analysis: Analysis | null
}

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
