import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseOptions, readInteger, split, UsageError } from '@startgrid/cli/arguments.ts'
import { formatMinutes } from '@startgrid/cli/duration.ts'
import { listenForInterruption } from '@startgrid/cli/interruption.ts'
import { createProgress } from '@startgrid/cli/progress.ts'
import { chooseCores } from '@startgrid/machine/cores.ts'
import { describeMachine, readMachine } from '@startgrid/machine/machine.ts'
import { readVersions } from '@startgrid/machine/provenance.ts'
import { findNginx } from '@startgrid/nginx/find.ts'
import { createStartgridDriver } from '../../drivers/create.ts'
import { judgeOverhead } from '../../judge/overhead.ts'
import {
  expectedOverheadMs,
  frameworkGroup,
  measureOverhead,
  NGINX,
  nginxGroup,
  OVERHEAD_FRAMEWORKS,
} from '../../measure/overhead.ts'
import { describeWarning } from '../../model/warnings.ts'
import { formatOverhead, writeOverhead } from '../../report/overhead.ts'

const NAMES = [...OVERHEAD_FRAMEWORKS, NGINX]
const PAGE = fileURLToPath(new URL('../../../../docs/choosing-a-framework.md', import.meta.url))

const HELP = `pnpm bench overhead [options]   what the duties of an app cost: hello as it is
                                in production, against a bare hello of the same
                                framework, and against one that sends the same
                                headers and a random id (3 minutes)

  --only NAMES        with commas: ${NAMES.join(', ')}
  --heats N           starts of every program, 2 to 50 (default 3)
  --slices N          passes per heat: 3 to 100 (default 19)
  --seed N            repeats an order
  --docs              writes the tables into docs/choosing-a-framework.md
  --json FILE         writes all measurements there, - for standard output
  --help

A ratio is CPU per request without the duties over CPU per request with them: 1
means that they cost nothing.
`

const SLICE_MS = 50

/** `pnpm bench overhead`. @returns the exit code: 1 if something did not start, or a response was wrong */
export async function overheadCommand(args: readonly string[]): Promise<number> {
  const options = readOverheadOptions(args)
  if (options.help) {
    process.stdout.write(HELP)
    return 0
  }
  const progress = createProgress()
  const { signal, code } = listenForInterruption(progress)
  const cores = chooseCores((warning) => progress.say(describeWarning(warning)))
  const found = await findNginx({ download: false })
  const nginx = found.kind === 'none' ? undefined : found
  if (nginx === undefined && options.names.includes(NGINX)) progress.say(`Without NGINX: ${found.describe()}`)
  const groups = options.names
    .filter((name) => name !== NGINX || nginx !== undefined)
    .map((name) => (name === NGINX ? nginxGroup() : frameworkGroup(name)))
  const plan = { groups, heats: options.heats, slices: options.slices, sliceMs: SLICE_MS }
  const total = expectedOverheadMs(plan)
  progress.say(`About ${formatMinutes(total)} (minutes:seconds).`)
  progress.begin(total)
  const driver = await createStartgridDriver({ cpu: cores?.generator })
  const measured = await measureOverhead({
    ...plan,
    seed: options.seed,
    nginx,
    cores,
    driver,
    signal,
    onProgress: progress.update,
  }).finally(() => driver.stop())
  progress.stop()
  const heats = [...measured].map(([{ name, ways }, own]) => ({
    name,
    cells: ways.map(({ cell }) => cell),
    heats: own,
  }))
  const judged = judgeOverhead(heats.filter((group) => group.heats.length > 0))
  if (options.json !== undefined) {
    const record = { machine: readMachine(), versions: readVersions(), seed: options.seed, groups: heats }
    const text = `${JSON.stringify(record, undefined, 1)}\n`
    if (options.json === '-') process.stdout.write(text)
    else writeFileSync(options.json, text)
  }
  if (options.json !== '-')
    process.stdout.write(`${formatOverhead(judged.groups, NGINX, process.stdout.columns ?? 160)}`)
  for (const sentence of judged.failures) process.stderr.write(`${sentence}\n`)
  if (signal.aborted) return code()
  if (judged.failures.length > 0) return 1
  if (options.docs) writeOverhead(PAGE, judged.groups, NGINX, describeRun(options.heats, options.slices))
  return 0
}

function describeRun(heats: number, slices: number): string {
  const { startgrid } = readVersions()
  return (
    `Microseconds of CPU per request, 64 connections, ${heats} launches of ${slices} slices of ${SLICE_MS} ms. Measured by \`pnpm bench overhead --docs\` on ` +
    `${new Date().toISOString().slice(0, 10)} at commit ${startgrid} on ${describeMachine(readMachine())}.`
  )
}

function readOverheadOptions(args: readonly string[]) {
  const values = parseOptions(
    args,
    {
      only: { type: 'string', default: NAMES.join(',') },
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
    if (!NAMES.includes(name)) throw new UsageError(`--only knows ${NAMES.join(', ')}, but not '${name}'.`)
  if (values.docs && names.length < NAMES.length)
    throw new UsageError('--docs writes the whole table: leave out --only.')
  return {
    ...values,
    names,
    heats: readInteger('--heats', values.heats, 2, 50),
    slices: readInteger('--slices', values.slices, 3, 100),
    seed: readInteger('--seed', values.seed, 0, 2 ** 32 - 1),
  }
}
