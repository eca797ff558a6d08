import { readFileSync } from 'node:fs'
import { parseCommandLine, UsageError } from '@startgrid/cli/arguments.ts'
import { parseDuration } from '@startgrid/cli/duration.ts'
import { LoadError } from '../engine/load-error.ts'
import { type LoadPlan, validatePlan } from '../engine/options.ts'
import { type Expectation, exactly } from '../http/expectation.ts'
import { type Address, readUrls } from './url.ts'

export interface Command {
  url: string
  plan: LoadPlan
  /** A file, `-` for standard output, or undefined. */
  json: string | undefined
}

type Values = Exclude<ReturnType<typeof parse>, 'help'>['values']

/** Reads the command line. @returns 'help' if that was asked for
 * @throws {UsageError} */
export function readCommand(args: readonly string[], program = 'pnpm load'): Command | 'help' {
  const { values, positionals } = parse(args, program)
  if (values.help) return 'help'
  const address = readUrls(positionals, values.insecure)
  const plan = planOf(values, address)
  asUsage(() => validatePlan(plan))
  return { url: address.url, plan, json: values.json }
}

function parse(args: readonly string[], program: string) {
  return parseCommandLine(
    args,
    {
      connections: { type: 'string', short: 'c', default: '64' },
      duration: { type: 'string', short: 'd' },
      requests: { type: 'string', short: 'n' },
      rate: { type: 'string', short: 'r' },
      arrivals: { type: 'string' },
      pipeline: { type: 'string', default: '1' },
      'new-connections': { type: 'boolean', default: false },
      warmup: { type: 'string', default: '0s' },
      timeout: { type: 'string', default: '5s' },
      seed: { type: 'string', default: '1' },
      'path-file': { type: 'string' },
      method: { type: 'string' },
      header: { type: 'string', short: 'H', multiple: true, default: [] },
      body: { type: 'string' },
      'body-file': { type: 'string' },
      insecure: { type: 'boolean', short: 'k', default: false },
      socket: { type: 'string' },
      'expect-status': { type: 'string', default: '200' },
      check: { type: 'string' },
      'expect-body': { type: 'string' },
      'expect-sha256': { type: 'string' },
      series: { type: 'string' },
      json: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
    program,
  )
}

function planOf(values: Values, address: Address): LoadPlan {
  const body = readBody(values)
  return {
    target: values.socket === undefined ? address.target : { socketPath: values.socket },
    path: readPaths(values, address),
    method: values.method?.toUpperCase() ?? (body === undefined ? 'GET' : 'POST'),
    headers: { host: address.host, ...readHeaders(values.header) },
    ...(body !== undefined && { body }),
    connections: readNumber('--connections', values.connections),
    pipeline: readNumber('--pipeline', values.pipeline),
    newConnections: values['new-connections'],
    ...readPace(values),
    seed: readNumber('--seed', values.seed),
    warmupMs: readTime('--warmup', values.warmup),
    timeoutMs: readTime('--timeout', values.timeout),
    ...(values.series !== undefined && { seriesMs: readTime('--series', values.series) }),
    expect: readExpectation(values),
  }
}

function readPace({ rate, arrivals, duration, requests }: Values): Partial<LoadPlan> {
  if (duration !== undefined && requests !== undefined)
    throw new UsageError('How long? Give either --duration or --requests.')
  if (arrivals !== undefined && arrivals !== 'poisson' && arrivals !== 'constant')
    throw new UsageError(`--arrivals is ${JSON.stringify(arrivals)}, but must be poisson or constant.`)
  return {
    ...(rate !== undefined && { rate: readRate(rate) }),
    ...(arrivals !== undefined && { arrivals }),
    ...(requests === undefined
      ? { durationMs: readTime('--duration', duration ?? '10s') }
      : { requests: readNumber('--requests', requests) }),
  }
}

function readPaths({ 'path-file': file }: Values, { paths }: Address): string[] | string {
  if (file === undefined) return paths.length === 1 ? (paths[0] ?? '/') : paths
  if (paths.length > 1)
    throw new UsageError('With --path-file, one URL gives the host: leave the others out.')
  const lines = readText('--path-file', file).split(/\r?\n/)
  const listed = lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'))
  if (listed.length === 0) throw new UsageError(`There is no path in ${file}: write one per line.`)
  return listed
}

function readBody({ body, 'body-file': file }: Values): string | undefined {
  if (file === undefined) return body
  if (body !== undefined) throw new UsageError('Which body? Give either --body or --body-file.')
  return readText('--body-file', file)
}

function readExpectation(values: Values): Expectation {
  const { check, 'expect-body': file, 'expect-sha256': sha256 } = values
  if (file !== undefined && sha256 !== undefined)
    throw new UsageError('Which body is right? Give either --expect-body or --expect-sha256.')
  return {
    status: readNumber('--expect-status', values['expect-status']),
    ...(file !== undefined && { body: exactly(readBytes('--expect-body', file)) }),
    ...(sha256 !== undefined && { body: { sha256 } }),
    ...(check !== undefined && { checkEvery: readNumber('--check', check) }),
    ...(check !== undefined && file === undefined && sha256 === undefined && { learn: true }),
  }
}

/** Names in lower case, so that a header given twice, or `Host`, replaces the earlier one. */
function readHeaders(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':')
      if (colon < 1)
        throw new UsageError(`The header ${JSON.stringify(line)} must be written as 'name: value'.`)
      return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
}

function readText(option: string, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readBytes(option, file))
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`${option}: ${file} is not text in UTF-8.`)
  }
}

function readBytes(option: string, file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new UsageError(`${option}: ${file} cannot be read: ${(error as Error).message}.`)
  }
}

function readNumber(option: string, text: string): number {
  if (/^\d{1,12}$/.test(text)) return Number(text)
  throw new UsageError(`${option} is ${JSON.stringify(text)}, but must be a whole number.`)
}

function readRate(text: string): number {
  if (/^\d{1,9}(?:\.\d{1,6})?$/.test(text)) return Number(text)
  throw new UsageError(`--rate is ${JSON.stringify(text)}, but must be a number of requests per second.`)
}

function readTime(option: string, text: string): number {
  const milliseconds = parseDuration(text)
  if (milliseconds !== undefined) return milliseconds
  throw new UsageError(`${option} is ${JSON.stringify(text)}, but must be a time such as 500ms, 5s or 1m.`)
}

function asUsage(validate: () => void): void {
  try {
    validate()
  } catch (error) {
    if (error instanceof LoadError) throw new UsageError(error.message)
    throw error
  }
}
