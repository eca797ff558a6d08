import { writeFileSync } from 'node:fs'
import { UsageError } from '@startgrid/cli/arguments.ts'
import { formatMs } from '@startgrid/cli/numbers.ts'
import { duration, flag, helpOf, integer, readCommandLine, text } from '@startgrid/cli/options.ts'
import { layOut, left, right, tableOf } from '@startgrid/cli/table.ts'
import { plural, wrap } from '@startgrid/cli/text.ts'
import { openConnection } from '@startgrid/wire/client.ts'
import { NoResponse } from '@startgrid/wire/reader.ts'
import { runLoad } from './load.ts'
import { LoadError, type LoadPlan, resolveTarget } from './plan.ts'
import type { Latency } from './recording.ts'
import { REQUEST, readPaths, readRequest, readTarget } from './request.ts'
import type { LoadResult } from './result.ts'
import { coresFor, startTeam } from './team.ts'

const OPTIONS = {
  connections: integer('connections; at most so many in open loop', {
    short: 'c',
    min: 1,
    max: 65_535,
    default: 64,
  }),
  duration: duration('how long to send: 500ms, 5s, 1m (default 10s)', { short: 'd', min: 1 }),
  rate: integer('open loop: requests per second', { short: 'r', min: 1, max: 1e7 }),
  warmup: duration('load before it, which does not count', { min: 0 }),
  processes: integer('processes that offer the load together, each on a core of its own', {
    min: 1,
    max: 256,
    default: 1,
  }),
  timeout: duration('how long a response may take (default 5s)', { min: 1 }),
  ...REQUEST,
  'expect-status': integer('any other status is an error', { min: 200, max: 999, default: 200 }),
  insecure: flag('https:// on loopback with any certificate', { short: 'k' }),
  json: text('FILE', 'also write the result to FILE; with - print only the result'),
  help: flag('this text', { short: 'h' }),
}

/** @param program as a person types it */
export const helpText = (program: string) => `Usage: ${program} URL… [options]

Sends HTTP/1.1 requests to a server of this machine, or of a private network,
and reads every response.
Closed loop: each connection sends its next request as soon as the last one has
its response. Open loop (--rate): requests are due at random times, whatever
became of those before. Their latency counts from when they were due.

Of several URLs or paths, one is drawn at random each time.
unix:/run/app.sock is a URL, too.

${helpOf(OPTIONS)}

Exit code: 0 all responses as expected, 1 errors or no server, 2 wrong usage,
130 interrupted with Ctrl-C (what was measured is still printed).
`

/**
 * @param program as a person types it
 * @returns the exit code
 * @throws {LoadError | UsageError} with a sentence
 */
export async function loadCommand(args: readonly string[], program: string): Promise<number> {
  const command = readCommand(args, program)
  if (command === 'help') {
    process.stdout.write(helpText(program))
    return 0
  }
  const { url, plan, processes, json } = command
  const interrupt = new AbortController()
  // Only once: a second Ctrl-C ends the process at once.
  process.once('SIGINT', () => interrupt.abort())
  const cores = processes > 1 ? coresFor(processes) : undefined
  await findServer(plan)
  if (json !== '-') process.stdout.write(`${wrap(title(url, plan))}\n`)
  const load = { ...plan, signal: interrupt.signal }
  const team = cores && (await startTeam(cores))
  const result = await (team?.run(load) ?? runLoad(load)).finally(() => team?.stop())
  const { method, connections } = plan
  if (json !== undefined) write(json, `${JSON.stringify({ url, method, connections, ...result })}\n`)
  if (json !== '-') process.stdout.write(`\n${report(result)}`)
  if (interrupt.signal.aborted) return 130
  return result.requests === 0 || Object.values(result.errors).some((count) => count > 0) ? 1 : 0
}

/**
 * Reads the command line.
 * @returns 'help' if that was asked for; else the first URL, what to send, and where the result goes (a file, or `-` for standard output)
 * @throws {UsageError} in one sentence
 */
export function readCommand(args: readonly string[], program: string) {
  const { values, positionals } = readCommandLine(args, OPTIONS, program)
  if (values.help) return 'help'
  const [first, ...others] = positionals.map((typed) => readUrl(typed, values.insecure))
  if (first === undefined)
    throw new UsageError('Which URL? For example: pnpm load http://127.0.0.1:3000/json')
  const other = others.find(({ origin }) => origin !== first.origin)
  if (other !== undefined)
    throw new UsageError(`One server at a time: ${other.url} is not on ${first.origin}.`)
  const { connections, rate, json, processes } = values
  if (connections < processes)
    throw new UsageError(`${processes} processes share ${connections} connections: give at least as many.`)
  const paths = readPaths(values.path).flatMap(({ path, weight = 1 }) => new Array<string>(weight).fill(path))
  if (paths.length > 0 && (others.length > 0 || first.path !== '/'))
    throw new UsageError(`With --path, give one URL without a path: ${first.origin}.`)
  const url = paths.length > 0 ? `${first.origin}${paths[0]}` : first.url
  const plan: LoadPlan = {
    target: first.target,
    path: paths.length > 0 ? paths : [first, ...others].map(({ path }) => path),
    method: 'GET',
    ...readRequest(values),
    connections,
    ...(rate !== undefined && { rate }),
    durationMs: values.duration ?? 10_000,
    warmupMs: values.warmup ?? 0,
    timeoutMs: values.timeout ?? 5_000,
    expect: { status: values['expect-status'] },
  }
  return { url, plan, processes, json }
}

function readUrl(typed: string, insecure: boolean) {
  if (/^unix:./.test(typed)) return { url: typed, origin: typed, path: '/', target: readTarget(typed) }
  const url = URL.parse(typed)
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (!isHttp || url.username !== '' || url.password !== '')
    throw new UsageError(`${JSON.stringify(typed)} is not a URL such as http://127.0.0.1:3000/json.`)
  const { origin } = url
  const path = `${url.pathname}${url.search}`
  return { url: `${origin}${path}`, origin, path, target: readTarget(origin, insecure) }
}

/** @throws {LoadError} if nobody accepts a connection, or has a certificate that is not trusted */
async function findServer({ target }: LoadPlan): Promise<void> {
  await resolveTarget(target)
  const connection = await openConnection(target, { timeoutMs: 5_000 }).catch((error: Error) => {
    throw error instanceof NoResponse ? new LoadError(error.message) : error
  })
  connection.destroy()
}

/** What is loaded, in one line. */
function title(url: string, { method, path, connections, rate, durationMs }: LoadPlan): string {
  const others = new Set([path].flat()).size - 1
  const more = others > 0 ? ` and ${others} more` : ''
  const pace = rate === undefined ? '' : ` at ${format(rate)} per second`
  return `${method} ${url}${more} with ${plural(connections, 'connection')}${pace} for ${durationMs / 1_000} s`
}

/** A generator that is busy for more than this part of its time may be what limits a closed loop. */
const BUSY = 0.95

/** A result for a person, at most 80 columns wide. */
export function report(result: LoadResult): string {
  const { openLoop, requests, seconds, errors, statuses, handshakes, self } = result
  const rows = [['rate', `${format(result.rate)} responses per second`]]
  if (openLoop !== null) {
    const { offered, achieved } = openLoop
    const part = offered > 0 ? (100 * achieved) / offered : 100
    const sent = `achieved ${format(achieved)} (${part.toFixed(1)} %)`
    rows.push(['offered', `${format(offered)} per second, ${sent}`])
  }
  const waited = self.waitSeconds === null ? '' : `, ${self.waitSeconds.toFixed(2)} s without a core`
  rows.push(
    ['requests', `${format(requests)} in ${seconds.toFixed(2)} s`],
    ['errors', counts(errors)],
    ['statuses', counts(statuses)],
    ...Object.entries(handshakes).map(([what, times]) => ['tls', `${what}: ${format(times)}`]),
    ['received', `${(result.bytes / 1e6).toFixed(1)} MB`],
    ['generator', `busy ${Math.round(100 * self.busy)} %${waited}`],
  )
  if (openLoop === null && self.busy > BUSY) rows.push(['', 'it may be the limit, not the server'])
  const lines = rows.map(([name = '', value]) => `  ${name.padEnd(11)} ${value}`)
  const bound = self.reason === null ? '' : `\n${wrap(`generator-bound: ${self.reason}.`)}\n`
  return `${[...lines, '', ...latencies(result)].join('\n')}\n${bound}`
}

const PERCENTILES = ['mean', 'p50', 'p90', 'p99', 'p999', 'max'] as const

function latencies({ requests, latency, service, lag }: LoadResult): string[] {
  if (requests === 0) return ['  latency     no response']
  const rows: [string, Latency][] = [[lag === null ? 'latency' : 'corrected', latency]]
  if (lag !== null) rows.push(['service', service], ['lag', lag])
  const columns = PERCENTILES.map((name) =>
    right<(typeof rows)[number]>(name.replace('p999', 'p99.9'), 0, ([, times]) => formatMs(times[name])),
  )
  const [table] = layOut([tableOf(rows, [left('ms', 0, ([name]) => name.padEnd(11)), ...columns])], 78)
  return [table?.head, ...(table?.rows.map(({ text }) => text) ?? [])].map((line) => `  ${line}`)
}

function counts(all: Readonly<Record<string, number>>): string {
  const present = Object.entries(all).filter(([, number]) => number > 0)
  return present.map(([name, number]) => `${name}: ${format(number)}`).join(', ') || 'none'
}

function format(value: number): string {
  return Math.round(value).toLocaleString('en')
}

function write(file: string, text: string): void {
  try {
    if (file === '-') process.stdout.write(text)
    else writeFileSync(file, text)
  } catch (error) {
    throw new LoadError(`The result cannot be written to ${file}: ${(error as Error).message}.`)
  }
}

if (import.meta.main)
  try {
    process.exitCode = await loadCommand(process.argv.slice(2), 'pnpm load')
  } catch (error) {
    if (!(error instanceof LoadError || error instanceof UsageError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exitCode = error instanceof UsageError ? 2 : 1
  }
