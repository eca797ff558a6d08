import Type from 'typebox'
import { Cell, ConformanceRecord } from './cell.ts'
import { Analysis, PilotRecord, StudyAnalysis } from './figures.ts'
import { Heat, type Trial } from './heat.ts'
import { Machine, NginxVersion, Versions } from './provenance.ts'
import { count, list, number, object, orNull, type Static, text } from './schema.ts'
import { Settings } from './settings.ts'
import { Warning } from './warnings.ts'

/**
 * A run as it is stored. What was measured (`heats`) is kept apart from what follows from it
 * (`analysis`), which `pnpm bench report` makes again.
 */

/** What every result has. */
const RUN = {
  schema: Type.Literal(6, { description: 'Version of this format.' }),
  startedAt: text('Start of the run, ISO 8601, UTC.'),
  finishedAt: orNull(
    Type.String(),
    'End of the run, ISO 8601, UTC; null while it runs and after an interruption.',
  ),
  command: text('What repeats the run, for a shell.'),
  seed: count('Of the random order of heats and slices.'),
  machine: Machine,
  versions: Versions,
  nginx: orNull(NginxVersion, 'The usual NGINX; null if none was needed or found.'),
  settings: Settings,
  stolen: number(
    "Part of this virtual machine's CPU that its host took meanwhile, 0 to 1; 0 where nobody knows.",
  ),
  enoughMs: orNull(
    Type.Number(),
    'What all heats would have taken, in milliseconds: whole ten seconds; null if none was dropped.',
  ),
  warnings: list(Warning, 'What a reader must know, the most important first.'),
  cells: list(Cell, 'What was to be measured.'),
  conformance: list(ConformanceRecord, 'The suite of the contract, once per cell before the first heat.'),
  heats: list(Heat, 'What was measured, in the order in which it ran.'),
}

const AFTER = 'What follows from `heats`; null before the first heat.'

const Rate = object({ kind: Type.Literal('rate'), ...RUN, analysis: orNull(Analysis, AFTER) })

/** What a race of commands is made again from. No value of a header or of the environment is in it. */
export type RaceRecord = Static<typeof RaceRecord>
const RaceRecord = object({
  systems: list(
    object({
      name: text('As tables name it.'),
      command: orNull(Type.String(), 'How it is started; null if it ran already.'),
      url: orNull(Type.String(), 'Where it ran already; null if it is started.'),
      commit: orNull(Type.String(), 'What was checked out of git; null for all others.'),
    }),
    'What was compared: the first one is what the others are compared with.',
  ),
  requests: list(
    object({
      name: text('Method and path.'),
      method: text('Method.'),
      path: text('Path and query.'),
      weight: orNull(
        Type.Integer(),
        'How often it is drawn among others, in one mixture; null: it is a race of its own.',
      ),
      headers: list(Type.String(), 'Names of headers.'),
      bodyBytes: orNull(Type.Integer(), 'Length of the body that is sent, in bytes; null without one.'),
    }),
    'What is asked.',
  ),
  connections: count('Connections kept open.'),
  twin: orNull(
    Type.String(),
    'The system that equals the first one, to know the noise; null if there is none.',
  ),
  precision: orNull(
    Type.Number(),
    'Half-width of intervals, as a part of 1, for which the number of heats is chosen after the first ones; null: all are planned.',
  ),
  pilots: list(PilotRecord, 'Empty until it is measured.'),
})

const Study = object({
  kind: Type.Literal('study'),
  study: text('Name of the study.'),
  ...RUN,
  race: Type.Optional(RaceRecord),
  analysis: orNull(StudyAnalysis, AFTER),
})

/** By kind: what a file is checked against. */
export const RESULTS_BY_KIND = { rate: Rate, study: Study }

/** What was measured, without what follows from it. */
export type Run = Omit<RaceResult, 'kind' | 'analysis'> & { kind: StoredResult['kind'] }
/** Of generated experiments: the grid, or a server that already ran. */
export type RaceResult = Static<typeof Rate>
export type StudyResult = Static<typeof Study>

/** What a file of a run has, whatever was measured. */
export type StoredResult = RaceResult | StudyResult

export function isRace(result: StoredResult): result is RaceResult {
  return result.kind === 'rate'
}

/** All open loops of a run, in the order in which they were measured. */
export function trialsOf({ heats }: Pick<Run, 'heats'>): Trial[] {
  return heats.flatMap(({ trials }) => trials)
}
