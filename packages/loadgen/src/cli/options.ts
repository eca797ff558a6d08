import { UsageError } from '@startgrid/cli/arguments.ts'
import { duration, flag, helpOf, integer, readCommandLine, text, texts } from '@startgrid/cli/options.ts'
import { type Target, TargetError, targetOf } from '@startgrid/wire/target.ts'
import { LoadError } from '../engine/load-error.ts'
import { type LoadPlan, validatePlan } from '../engine/options.ts'

const OPTIONS = {
  connections: integer('N', 'connections; in open loop, at most', {
    ...{ short: 'c', min: 1, max: 65_535, default: 64 },
  }),
  duration: duration('how long to send: 500ms, 5s, 1m (default 10s)', { short: 'd', min: 1 }),
  rate: integer('N', 'open loop: requests per second', { short: 'r', min: 1, max: 1e7 }),
  warmup: duration('load before that, which does not count', { min: 0 }),
  processes: integer('N', 'processes that offer the load together, each on a core of its own', {
    ...{ min: 1, max: 256, default: 1 },
  }),
  timeout: duration('allowed to a response (default 5s)', { min: 1 }),
  method: text('M', 'GET, HEAD, POST, … (default GET, or POST with a body)'),
  header: texts("'NAME: V'", 'a request header; may be given again', { short: 'H' }),
  body: text('TEXT', "the request's body"),
  'expect-status': integer('N', 'any other status is an error', { min: 200, max: 999, default: 200 }),
  insecure: flag('https:// on loopback with any certificate', { short: 'k' }),
  json: text('FILE', 'also write the result to FILE; - writes only it, to standard output'),
  help: flag('this text', { short: 'h' }),
}

/** @param program as a person types it */
export const helpText = (program: string) => `Usage: ${program} URL… [options]

Sends HTTP/1.1 requests to a server of this machine, or of a private network,
and reads every response.
Closed loop: each connection sends its next request as soon as the last one has
its response. Open loop (--rate): requests are due at random times, whatever
became of those before, and their latency counts from then.

Of several URLs, one is drawn at random each time, and so is each number of a
path such as /hello/{int:1-1000}.

${helpOf(OPTIONS)}

Exit code: 0 all responses as expected, 1 errors or no server, 2 wrong usage,
130 interrupted with Ctrl-C (what was measured is still printed).
`

export interface Command {
  /** The first URL. */
  url: string
  plan: LoadPlan
  processes: number
  /** A file, `-` for standard output, or undefined. */
  json: string | undefined
}

/**
 * Reads the command line.
 * @returns 'help' if that was asked for
 * @throws {UsageError} in one sentence
 */
export function readCommand(args: readonly string[], program: string): Command | 'help' {
  const { values, positionals } = readCommandLine(args, OPTIONS, program)
  if (values.help) return 'help'
  const { url, host, target, paths } = readUrls(positionals, values.insecure)
  const { connections, rate, body, json, processes } = values
  if (connections < processes)
    throw new UsageError(`${processes} processes share ${connections} connections: give at least as many.`)
  const plan: LoadPlan = {
    target,
    path: paths,
    method: values.method?.toUpperCase() ?? (body === undefined ? 'GET' : 'POST'),
    headers: { host, ...readHeaders(values.header) },
    ...(body !== undefined && { body }),
    connections,
    ...(rate !== undefined && { rate }),
    durationMs: values.duration ?? 10_000,
    warmupMs: values.warmup ?? 0,
    timeoutMs: values.timeout ?? 5_000,
    expect: { status: values['expect-status'] },
  }
  try {
    validatePlan(plan)
  } catch (error) {
    throw error instanceof LoadError ? new UsageError(error.message) : error
  }
  return { url, plan, processes, json }
}

/** All on one server. */
function readUrls(texts: readonly string[], insecure: boolean) {
  const [first, ...others] = texts.map((one) => readUrl(one, insecure))
  if (first === undefined)
    throw new UsageError('Which URL? For example: pnpm load http://127.0.0.1:3000/json')
  const other = others.find(({ origin }) => origin !== first.origin)
  if (other !== undefined)
    throw new UsageError(`One server at a time: ${other.url} is not on ${first.origin}.`)
  return { ...first, paths: [first, ...others].map(({ path }) => path) }
}

function readUrl(typed: string, insecure: boolean) {
  // URLs cannot contain braces, so the random parts are replaced while a URL is parsed.
  const parts: string[] = []
  const url = URL.parse(typed.replace(/\{[^{}]*\}/g, (part) => `~part${parts.push(part) - 1}~`))
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (!isHttp || url.username !== '' || url.password !== '' || url.host.includes('~part'))
    throw new UsageError(`${JSON.stringify(typed)} is not a URL such as http://127.0.0.1:3000/json.`)
  const path = `${url.pathname}${url.search}`.replace(/~part(\d+)~/g, (_, n) => parts[Number(n)] ?? '')
  const { origin, host } = url
  return { url: `${origin}${path}`, origin, host, path, target: readTarget(url, insecure) }
}

function readTarget(url: URL, insecure: boolean): Target {
  try {
    return targetOf(url, insecure)
  } catch (error) {
    throw error instanceof TargetError ? new UsageError(error.message) : error
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
