import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseOptions, readInteger, split, UsageError } from '@startgrid/cli/arguments.ts'
import { listenForInterruption } from '@startgrid/cli/interruption.ts'
import { createProgress } from '@startgrid/cli/progress.ts'
import { describeMachine, readMachine } from '@startgrid/machine/machine.ts'
import { OVERHEAD_RACES, overheadOf } from '../../../studies/overhead/study.ts'
import { runStudy } from '../../measure/study.ts'
import { ResultError } from '../../model/result-file.ts'
import { writeStudy } from '../../model/study-file.ts'
import type { StudyResult } from '../../model/study-result.ts'
import { createStudyResult } from '../../plan/study.ts'
import { commandOf } from '../../report/output.ts'
import { formatOverhead, writeOverhead } from '../../report/overhead.ts'
import { whyStudyFailed } from '../exit-code.ts'

const PAGE = fileURLToPath(new URL('../../../../docs/choosing-a-framework.md', import.meta.url))

const HELP = `pnpm bench overhead [options]   what the duties of an app cost: hello as it is
                                in production, against a bare hello of the same
                                framework, and against one that sends the same
                                headers and a random id (7 minutes)

  --only NAMES        with commas: ${OVERHEAD_RACES.join(', ')}
  --heats N           starts of every program, 2 to 50 (default 3)
  --slices N          passes per heat: 3 to 100 (default 19)
  --seed N            repeats an order
  --docs              writes the tables into docs/choosing-a-framework.md
  --json FILE         writes all measurements there, - for standard output
  --help

A ratio is CPU per request without the duties over CPU per request with them: 1
means that they cost nothing.
`

/** `pnpm bench overhead`. @returns the exit code: 1 if something did not start, or a response was wrong */
export async function overheadCommand(args: readonly string[]): Promise<number> {
  const options = readOverheadOptions(args)
  if (options.help) {
    process.stdout.write(HELP)
    return 0
  }
  const { heats, slices, seed, json } = options
  const study = overheadOf(options.names)
  const plan = { profile: 'full', asPublished: false, heats, seed } as const
  const result = createStudyResult(study, plan, commandOf('pnpm bench overhead', args, seed))
  result.settings.slices = slices
  const progress = createProgress()
  const { signal, code } = listenForInterruption(progress)
  const context = { progress, signal, save: () => {}, download: false }
  await runStudy(study, result, context).finally(progress.stop)
  if (json === '-') process.stdout.write(`${JSON.stringify(result)}\n`)
  else if (json !== undefined) writeStudy(json, result)
  const { analysis } = result
  if (json !== '-' && analysis !== null)
    process.stdout.write(formatOverhead(analysis, process.stdout.columns ?? 160))
  if (signal.aborted) return code()
  const skipped = whySkipped(result)
  const failed = [...whyVoid(result), ...whyStudyFailed(result)]
  for (const sentence of [...skipped, ...failed]) process.stderr.write(`${sentence}\n`)
  if (failed.length > 0) return 1
  if (options.docs && skipped.length > 0)
    throw new ResultError(`${relative('.', PAGE)} is as it was: --docs needs all of the systems.`)
  if (options.docs && analysis !== null) writeOverhead(PAGE, analysis, describeRun(result))
  return 0
}

function whySkipped({ cells }: StudyResult): string[] {
  return cells.flatMap(({ title, skipped }) =>
    skipped === null ? [] : `${title} was skipped, because ${skipped}.`,
  )
}

function whyVoid({ analysis }: StudyResult): string[] {
  return (analysis?.cells ?? []).flatMap(({ system, voided, gates }) => {
    const failed = gates.find(({ verdict }) => verdict === 'failed')
    return voided && failed !== undefined ? `${system} is void: ${failed.finding}.` : []
  })
}

function describeRun({ settings: { heats, slices, sliceMs }, versions: { startgrid } }: StudyResult): string {
  return (
    `Microseconds of CPU per request, 64 connections, ${heats} launches of ${slices} slices of ${sliceMs} ms. Measured by \`pnpm bench overhead --docs\` on ` +
    `${new Date().toISOString().slice(0, 10)} at commit ${startgrid} on ${describeMachine(readMachine())}.`
  )
}

function readOverheadOptions(args: readonly string[]) {
  const values = parseOptions(
    args,
    {
      only: { type: 'string', default: OVERHEAD_RACES.join(',') },
      heats: { type: 'string', default: '3' },
      slices: { type: 'string', default: '19' },
      seed: { type: 'string', default: String(Math.floor(Math.random() * 2 ** 32)) },
      docs: { type: 'boolean', default: false },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
    'pnpm bench overhead',
  )
  const names = split(values.only)
  for (const name of names)
    if (!OVERHEAD_RACES.includes(name))
      throw new UsageError(`--only knows ${OVERHEAD_RACES.join(', ')}, but not '${name}'.`)
  if (values.docs && names.length < OVERHEAD_RACES.length)
    throw new UsageError('--docs writes the whole table: leave out --only.')
  return {
    ...values,
    names,
    heats: readInteger('--heats', values.heats, 2, 50),
    slices: readInteger('--slices', values.slices, 3, 100),
    seed: readInteger('--seed', values.seed, 0, 2 ** 32 - 1),
  }
}
