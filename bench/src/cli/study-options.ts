import { UsageError } from '@startgrid/cli/arguments.ts'
import { readCommandLine } from '@startgrid/cli/options.ts'
import { PUBLISHED, STUDIES } from '../../studies/index.ts'
import type { ClusterSite } from '../experiment/options.ts'
import type { StudyProfile } from '../experiment/study.ts'
import type { Study } from '../model/experiment.ts'
import { readCluster } from './location.ts'
import { STUDY } from './option-table.ts'

/** What `pnpm bench study` is asked to do. */
export interface StudyOptions {
  studies: readonly Study[]
  /** Undefined: full. */
  profile: StudyProfile | undefined
  asPublished: boolean
  /** Launches of every system, instead of the profile's. */
  heats: number | undefined
  maxTimeMs: number | undefined
  seed: number | undefined
  /** A directory or file to go on from; '' is the newest. */
  resume: string | undefined
  list: boolean
  /** Results are stored in docs/studies, and its pages made again. */
  docs: boolean
  dryRun: boolean
  json: string | undefined
  output: string | undefined
  download: boolean
  /** Undefined: processes of this machine. */
  cluster: ClusterSite | undefined
}

/** @throws {UsageError} saying what is allowed */
export function readStudyOptions(args: readonly string[]): StudyOptions {
  const { values, positionals } = readCommandLine(args, STUDY, 'pnpm bench study')
  const [name, extra] = positionals
  if (extra !== undefined)
    throw new UsageError(`Unexpected argument '${extra}'. pnpm bench study --help lists the options.`)
  const { all, list, quick, docs, resume, json, output, heats, seed } = values
  const studies = list && name === undefined ? STUDIES : chooseStudies(name, all)
  if (studies.length === 0 && !(list || docs || resume !== undefined))
    throw new UsageError('Name a study, or give --all. pnpm bench study --list shows what there is.')
  if (json !== undefined && (studies.length > 1 || (name === undefined && resume !== undefined)))
    throw new UsageError('--json takes the result of one study: name it.')
  return {
    ...{ studies, heats, seed, resume, list, docs, json, output },
    profile: quick ? 'quick' : undefined,
    asPublished: values['as-published'],
    maxTimeMs: values['max-time'],
    dryRun: values['dry-run'],
    download: !values['no-download'],
    cluster: readCluster(values),
  }
}

function chooseStudies(name: string | undefined, all: boolean): readonly Study[] {
  if (name === undefined) return all ? PUBLISHED : []
  const found = STUDIES.find((study) => study.name === name)
  if (found === undefined)
    throw new UsageError(
      `There is no study '${name}', only ${STUDIES.map((study) => study.name).join(', ')}.`,
    )
  return [found]
}
