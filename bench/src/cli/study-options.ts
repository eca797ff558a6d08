import { parseOptions, readInteger, UsageError } from '@startgrid/cli/arguments.ts'
import { wrap } from '@startgrid/cli/text.ts'
import { PUBLISHED, STUDIES } from '../../studies/index.ts'
import type { ClusterSite } from '../experiment/options.ts'
import type { StudyProfile } from '../experiment/study.ts'
import type { Study } from '../model/experiment.ts'
import { OUTPUT_HELP } from './help.ts'
import { CLUSTER, readCluster } from './location.ts'
import { OUTPUT, readMaxTime, withResumeValue } from './options.ts'

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
  help: boolean
  json: string | undefined
  output: string | undefined
  download: boolean
  /** Undefined: processes of this machine. */
  cluster: ClusterSite | undefined
}

export const STUDY_HELP = `pnpm bench study NAME [options]   tests a source's claims on this machine
pnpm bench study --all           all of published sources, one after the other
pnpm bench study --list          the studies and their claims
pnpm bench study --docs          makes the pages in docs/studies again
pnpm bench study --resume        goes on with an interrupted run

  --quick             3 launches of every system instead of 8; all studies in
                      under 25 minutes
  --kubernetes        measures pods of a cluster, from pods on other nodes: where
                      this machine has too few cores. pnpm bench --help has
                      the options of a cluster (--server-node, --generators ...)
  --as-published      also runs the source's own tool and settings; its
                      figures are shown beside ours and decide nothing
  --heats N           launches of every system, 2 to 100
  --max-time T        drops the last launches of a study when time runs out:
                      90s, 10m (default with --quick 270s)
  --docs              stores the results in docs/studies/results and makes
                      the pages again; of overhead, writes its tables into
                      docs/choosing-a-framework.md
  --seed N            repeats an order
  --resume [RESULT]   goes on with an interrupted run (default: the newest);
                      finished studies are not run again
  --dry-run           prints the systems and the time it takes
${OUTPUT_HELP}

${wrap(`Studies: ${STUDIES.map(({ name }) => name).join(', ')}`)}
`

/** @throws {UsageError} saying what is allowed */
export function readStudyOptions(args: readonly string[]): StudyOptions {
  const [first = ''] = args
  const name = first.startsWith('-') || first === '' ? undefined : first
  const values = parseOptions(
    withResumeValue(name === undefined ? args : args.slice(1)),
    {
      ...OUTPUT,
      ...CLUSTER,
      all: { type: 'boolean' },
      list: { type: 'boolean' },
      quick: { type: 'boolean' },
      'as-published': { type: 'boolean' },
      heats: { type: 'string' },
      'max-time': { type: 'string' },
      docs: { type: 'boolean' },
      resume: { type: 'string' },
    },
    'pnpm bench study',
  )
  const cluster = readCluster(values)
  assertFitsCluster(cluster, values)
  const flag = (key: 'all' | 'list' | 'quick' | 'as-published' | 'docs') => values[key] === true
  const studies = flag('list') && name === undefined ? STUDIES : chooseStudies(name, flag('all'))
  const isIdle = flag('list') || flag('docs') || values.help === true || values.resume !== undefined
  if (studies.length === 0 && !isIdle)
    throw new UsageError('Name a study, or give --all. pnpm bench study --list shows what there is.')
  if (
    values.json !== undefined &&
    (studies.length > 1 || (name === undefined && values.resume !== undefined))
  )
    throw new UsageError('--json takes the result of one study: name it.')
  return {
    studies,
    profile: flag('quick') ? 'quick' : undefined,
    asPublished: flag('as-published'),
    heats: values.heats === undefined ? undefined : readInteger('--heats', values.heats, 2, 100),
    maxTimeMs: readMaxTime(values['max-time']),
    seed: values.seed === undefined ? undefined : readInteger('--seed', values.seed, 0, 2 ** 32 - 1),
    resume: values.resume,
    list: flag('list'),
    docs: flag('docs'),
    dryRun: values['dry-run'] === true,
    help: values.help === true,
    json: values.json,
    output: values.output,
    download: values['no-download'] !== true,
    cluster,
  }
}

/** Figures of the source's own tool, and those in docs/studies, are of one machine. */
function assertFitsCluster(
  cluster: ClusterSite | undefined,
  values: Partial<Record<'as-published' | 'docs' | 'resume', unknown>>,
): void {
  if (cluster === undefined) return
  if (values.resume !== undefined)
    throw new UsageError('--resume goes on as the run was begun: leave out --kubernetes.')
  for (const option of ['as-published', 'docs'] as const)
    if (values[option] === true) throw new UsageError(`--${option} and --kubernetes exclude each other.`)
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
