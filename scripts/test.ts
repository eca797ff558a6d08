import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, globSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { basename, dirname, isAbsolute } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { parseCommandLine, readInteger, UsageError } from '@startgrid/cli/arguments.ts'
import { formatMinutes } from '@startgrid/cli/duration.ts'
import { FRAMEWORKS } from '@startgrid/grid/apps.ts'
import { CATALOGUE } from '@startgrid/grid/frameworks.ts'
import { missingReport, type Outcome, readJunit } from './junit.ts'
import { failuresToRepeat, isSound, mergeRuns, type Run } from './second-run.ts'
import { formatConformance, formatOutcomes } from './test-report.ts'

const HELP = `pnpm test [FRAMEWORK] [options]   tests, type check and linter of all packages

  FRAMEWORK   only what concerns one: its own tests, and those of the grid and of
              eject with its apps: ${FRAMEWORKS.join(', ')}
  --full      everything instead of samples: every app in every topology, every
              fault on every app, every app installed with npm and with pnpm
  --seed N    the samples of an earlier run (default: other ones in every run)
  --help

Exit codes: 0 all passed; 1 something failed; 2 not understood; 130 interrupted.
`

const ROOT = fileURLToPath(new URL('../', import.meta.url))

/** One package's tests, or another command whose output matters only if it fails. */
interface Job {
  readonly name: string
  readonly directory: string
  readonly command: readonly [file: string, ...args: string[]]
}

/** Hundreds of processes load the same files; without it, removing their types takes a third of the processor time of a run. */
const COMPILE_CACHE = `${ROOT}node_modules/.cache/startgrid-compile`

interface Settings {
  readonly framework: string | undefined
  readonly full: boolean
  readonly seed: number
}

/** What takes longest begins first, so that no long one is left at the end. */
const LONGEST_FIRST = [
  'bench',
  'packages/grid',
  'packages/reliability',
  'scripts',
  'packages/eject',
  'nginx',
  'packages/shared',
  'packages/loadgen',
  'bench/studies/worker-pool/subjects/pool',
  'packages/conformance',
  ...CATALOGUE.filter(({ runtime }) => runtime === 'nginx').map(({ name }) => `apps/${name}`),
  'typecheck',
  'packages/create',
  'packages/startgrid',
]

async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseCommandLine(
    args,
    { full: { type: 'boolean' }, seed: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    'pnpm test',
  )
  if (values.help) {
    process.stdout.write(HELP)
    return 0
  }
  const framework = readFramework(positionals)
  // Minutes since 1970: every run has other samples.
  const seed =
    values.seed === undefined
      ? Math.floor(Date.now() / 60_000)
      : readInteger('--seed', values.seed, 0, 9_999_999_999)
  const settings: Settings = { framework, full: values.full ?? false, seed }
  const jobs = framework === undefined ? allJobs() : jobsOf(framework)
  const repeat = settings.full ? '' : `; the same samples again: pnpm test --seed ${seed}`
  process.stdout.write(`${jobs.length} packages and checks, ${atOnce()} at a time${repeat}\n`)
  const telling = saysWhatRuns()
  const verdicts = await runAgain(await runAll(jobs, settings), settings)
  clearInterval(telling)
  if (interrupted) return 130
  const outcomes = verdicts.flatMap((verdict) => verdict.outcomes)
  const failed = verdicts.filter((verdict) => !isSound(verdict)).map(({ job }) => job.name)
  if (framework === undefined) process.stdout.write(`\n${formatConformance(outcomes)}`)
  process.stdout.write(`\n${formatOutcomes(outcomes, failed)}, in ${elapsed()}\n`)
  return failed.length === 0 && outcomes.every(({ state }) => state !== 'failed') ? 0 : 1
}

function readFramework([name, extra]: readonly string[]): string | undefined {
  if (extra !== undefined) throw new UsageError(`'${extra}' is one argument too many: name one framework.`)
  if (name === undefined || FRAMEWORKS.some((framework) => framework === name)) return name
  throw new UsageError(`There is no framework '${name}', only ${FRAMEWORKS.join(', ')}.`)
}

function allJobs(): Job[] {
  const tests = globSync('{apps/*,packages/*,bench,bench/studies/*/subjects/*,nginx,scripts}/package.json', {
    cwd: ROOT,
  })
    .filter((file) => JSON.parse(readFileSync(`${ROOT}${file}`, 'utf8')).scripts?.test !== undefined)
    .map((file) => testJob(dirname(file)))
  const rank = ({ name }: Job) => LONGEST_FIRST.indexOf(name) + 1 || LONGEST_FIRST.length + 1
  const checks = ['typecheck', 'lint'].map(
    (name): Job => ({ name, directory: ROOT, command: ['node', '--run', name] }),
  )
  return [...tests.toSorted((a, b) => rank(a) - rank(b)), ...checks]
}

/** All that concerns one framework, with the faults that new ones often have. */
function jobsOf(framework: string): Job[] {
  return [
    testJob('packages/grid'),
    testJob(`apps/${framework}`),
    testJob('scripts', 'test/next-route.test.ts', 'test/framework-names.test.ts'),
    testJob('packages/eject', 'test/apps.test.ts'),
    {
      name: 'reliability',
      directory: ROOT,
      command: [
        'node',
        'packages/reliability/src/cli/cli.ts',
        ...[framework, '--fault', 'limits', '--fault', 'failing-handler'],
      ],
    },
    { name: 'check', directory: ROOT, command: ['node', 'scripts/check.ts', framework] },
    {
      name: 'typecheck',
      directory: ROOT,
      command: ['tsc', '--project', `apps/${framework}`],
    },
    { name: 'lint', directory: ROOT, command: ['biome', 'check', `apps/${framework}`] },
  ]
}

/** @param files only these */
function testJob(name: string, ...files: string[]): Job {
  const directory = `${ROOT}${name}`
  if (files.length === 0) return { name, directory, command: ['node', '--run', 'test'] }
  const reporters = ['spec', 'stdout', 'junit', '.junit.xml'].map(
    (value, index) => `--test-reporter${index % 2 === 0 ? '' : '-destination'}=${value}`,
  )
  return { name, directory, command: ['node', '--test', ...reporters, ...files] }
}

/** Tests wait for servers most of the time. */
function atOnce(): number {
  return availableParallelism() + 2
}

let interrupted = false
/** What runs, by its process. */
const running = new Map<ChildProcess, string>()
process.once('SIGINT', () => {
  interrupted = true
  for (const child of running.keys()) signalGroup(child, 'SIGINT')
})

/** Minutes after which a job that hangs is killed, so that the others are still reported. */
const LIMIT_MINUTES = { short: 30, full: 120 }

interface Verdict extends Run {
  readonly job: Job
}

/** Seconds after which a run that printed nothing says what it does. */
const SILENCE_SECONDS = 15

let printedAt = performance.now()

function print(text: string): void {
  printedAt = performance.now()
  process.stdout.write(text)
}

/** Since the command began. */
function elapsed(): string {
  return formatMinutes(performance.now())
}

function saysWhatRuns(): NodeJS.Timeout {
  return setInterval(() => {
    if (performance.now() - printedAt < SILENCE_SECONDS * 1000) return
    print(`${elapsed()}, still running: ${[...running.values()].join(', ')}\n`)
  }, 1000)
}

async function runAll(jobs: readonly Job[], settings: Settings): Promise<Verdict[]> {
  const verdicts: Verdict[] = []
  const open = jobs.values()
  const work = async (): Promise<void> => {
    for (const job of open) {
      if (interrupted) return
      verdicts.push(await judge(job, settings))
    }
  }
  await Promise.all(Array.from({ length: atOnce() }, work))
  return verdicts
}

async function judge(job: Job, settings: Settings): Promise<Verdict> {
  rmSync(`${job.directory}/.junit.xml`, { force: true }) // of an earlier run
  const { exitCode, output, seconds } = await runJob(job, settings)
  const verdict = { job, exitCode, outcomes: readReport(job) }
  const { outcomes } = verdict
  const passed = outcomes.filter(({ state }) => state === 'passed').length
  const counts = outcomes.length === 0 ? '' : `  ${passed} of ${outcomes.length} passed`
  print(
    `${isSound(verdict) ? '✓' : `${output}\n✗`} ${job.name}  ${formatMinutes(seconds * 1_000)}${counts}\n`,
  )
  return verdict
}

/**
 * Runs the files of a few failed tests again, one package at a time and nothing beside it. What passes then is flaky: it is named, and the
 * run passes. A defect fails twice.
 */
async function runAgain(verdicts: readonly Verdict[], settings: Settings): Promise<Verdict[]> {
  if (failuresToRepeat(verdicts.flatMap(({ outcomes }) => outcomes)).length === 0) return [...verdicts]
  const second: Verdict[] = []
  for (const verdict of verdicts) second.push(await secondVerdict(verdict, settings))
  return second
}

async function secondVerdict(verdict: Verdict, settings: Settings): Promise<Verdict> {
  const { job, outcomes } = verdict
  const failed = new Set(failuresToRepeat(outcomes).map(({ file = '' }) => file))
  // Of bun test, and of a test outside of any file, there is no path.
  if (interrupted || failed.size === 0 || ![...failed].every(isAbsolute)) return verdict
  const files = new Set([...failed].flatMap((file) => testFilesOf(job, file)))
  const again = await judge({ ...testJob(job.name, ...files), name: `${job.name}, again alone` }, settings)
  return { job, exitCode: again.exitCode, outcomes: mergeRuns(outcomes, again) }
}

/** node:test names the file that called `test()`: that may be one which test files import. */
function testFilesOf({ directory }: Job, file: string): string[] {
  if (file.endsWith('.test.ts')) return [file]
  const isImporter = (path: string) => readFileSync(path, 'utf8').includes(`/${basename(file)}'`)
  return globSync(`${directory}/test/**/*.test.ts`).filter(isImporter)
}

async function runJob(
  { name, directory, command: [file, ...args] }: Job,
  { full, seed, framework }: Settings,
) {
  const startedAt = performance.now()
  const child = spawn(file, args, {
    cwd: directory,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // a process group of its own, which can be killed as a whole
    env: {
      ...process.env,
      TURBO_TELEMETRY_DISABLED: '1',
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? COMPILE_CACHE,
      STARTGRID_TEST: full ? 'full' : 'short',
      STARTGRID_TEST_SEED: String(seed),
      ...(framework !== undefined && { STARTGRID_TEST_FRAMEWORK: framework }),
    },
  })
  running.set(child, name)
  const minutes = LIMIT_MINUTES[full ? 'full' : 'short']
  let hint = ''
  const limit = setTimeout(() => {
    hint = `It did not end within ${minutes} minutes, and was killed.\n`
    signalGroup(child, 'SIGKILL')
  }, minutes * 60_000)
  const { promise, resolve } = Promise.withResolvers<number | null>()
  child.once('close', resolve).once('error', () => resolve(null))
  const [out, err, exitCode] = await Promise.all([text(child.stdout), text(child.stderr), promise])
  clearTimeout(limit)
  running.delete(child)
  return { exitCode, output: out + err + hint, seconds: (performance.now() - startedAt) / 1_000 }
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal)
  } catch {
    // The group has ended already.
  }
}

/** Checks have no tests. Tests without a report would pass uncounted. */
function readReport({ name, directory, command }: Job): Outcome[] {
  const path = `${directory}/.junit.xml`
  if (existsSync(path)) return readJunit(readFileSync(path, 'utf8'))
  const isTested = command.some((word) => /^(?:--)?test$/.test(word))
  return isTested ? [missingReport(name)] : []
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 2
}
