import { UsageError } from '@startgrid/cli/arguments.ts'
import { formatMinutes, formatRatio } from '@startgrid/cli/numbers.ts'
import { readCommandLine } from '@startgrid/cli/options.ts'
import { COLUMNS, indented, listOf } from '@startgrid/cli/text.ts'
import { PUBLISHED, STUDIES } from '../../../studies/index.ts'
import { chooseRaces } from '../../experiment/profiles.ts'
import { createStudyResult } from '../../experiment/result.ts'
import { plannedMs } from '../../experiment/time.ts'
import { runExperiment } from '../../measure/run.ts'
import { commandOf } from '../../report/output.ts'
import { type Claim, publishedRatio, type Study } from '../../result/experiment.ts'
import { describePlan, type Measure, measureAndReport } from '../measure.ts'
import { STUDY } from '../options.ts'
import type { Program } from '../program.ts'

/** `pnpm bench study`: tests a source's claims. @returns the exit code */
export async function studyCommand(args: readonly string[], program: Program): Promise<number> {
  const options = readStudyOptions(args)
  if (options.list) {
    process.stdout.write(describeStudies(options.studies))
    return 0
  }
  const studies = options.studies
    .map((study) => chooseRaces(study, options.asPublished))
    .filter(({ races }) => Object.keys(races).length > 0)
  if (studies.length === 0)
    throw new UsageError(
      `${listOf(options.studies.map(({ name }) => name))} has no command of its source to run.`,
    )
  const command = commandOf('pnpm bench study', args, options.seed)
  const planned = studies.map((study) => ({ study, result: createStudyResult(study, options, command) }))
  if (options.dryRun) {
    const plans = planned.map(({ study, result }) => describePlan(study.name, study, result))
    process.stdout.write(plans.join('\n'))
    return 0
  }
  if (planned.length > 1) {
    const total = planned.reduce((sum, { result }) => sum + plannedMs(result), 0)
    process.stderr.write(
      `${listOf(planned.map(({ study }) => study.name))}: about ${formatMinutes(total)} (minutes:seconds).\n`,
    )
  }
  const measures = planned.map(
    ({ study, result }): Measure =>
      (context) =>
        runExperiment(study, result, context, options.download),
  )
  return measureAndReport(measures, options, program)
}

/** What `pnpm bench study` is asked to do. @throws {UsageError} saying what is allowed */
function readStudyOptions(args: readonly string[]) {
  const { values, positionals } = readCommandLine(args, STUDY, 'pnpm bench study', 1)
  const [name] = positionals
  const { all, list, json } = values
  const studies = list && name === undefined ? STUDIES : chooseStudies(name, all)
  if (json !== undefined && studies.length > 1)
    throw new UsageError('--json takes the result of one study: name it.')
  return {
    ...values,
    studies,
    profile: values.quick ? ('quick' as const) : ('full' as const),
    asPublished: values['as-published'],
    maxTimeMs: values['max-time'],
    dryRun: values['dry-run'],
    download: !values['no-download'],
  }
}

function chooseStudies(name: string | undefined, all: boolean): readonly Study[] {
  if (name === undefined && all) return PUBLISHED
  if (name === undefined)
    throw new UsageError('Name a study, or give --all. pnpm bench study --list shows what there is.')
  const found = STUDIES.find((study) => study.name === name)
  if (found === undefined)
    throw new UsageError(
      `There is no study '${name}', only ${STUDIES.map((study) => study.name).join(', ')}.`,
    )
  return [found]
}

/** Every study with its claims and published ratios. */
function describeStudies(studies: readonly Study[]): string {
  return studies
    .map(({ name, title, claims }) =>
      [`${name}: ${title}`, ...claims.map((claim) => lineOf(claim)), ''].join('\n'),
    )
    .join('\n')
}

function lineOf(claim: Claim): string {
  const ratio = formatRatio(publishedRatio(claim)).padStart(7)
  return `${ratio}  ${indented(claim.says, ' '.repeat(9), COLUMNS).trimStart()}`
}
