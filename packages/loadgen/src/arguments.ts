import { parseArgs } from 'node:util'
import { parseDuration } from './duration.ts'
import { LoadError } from './load-error.ts'
import { type LoadPlan, validatePlan } from './options.ts'
import type { Target } from './target.ts'

/** The command line cannot be understood; the message is a whole sentence. */
export class UsageError extends Error {
  override name = 'UsageError'
}

export const HELP = `Usage: pnpm load URL [options]

Sends HTTP/1.1 requests to a server on this machine: each connection sends its
next request as soon as the last one is answered. Every answer is read.

  -c, --connections N     connections, one request in flight each (64)
  -d, --duration TIME     how long to send: 500ms, 5s, 1m (10s)
      --warmup TIME       load before that, not counted (0s)
      --method M          GET, HEAD, POST, … without a body (GET)
  -H, --header 'NAME: V'  a request header; may be given again
      --timeout TIME      allowed to an answer (5s)
      --expect-status N   any other status is an error (200)
      --socket PATH       connect to this unix socket; URL gives host and path
      --json FILE         also write the result to FILE; - writes only it, to
                          standard output
  -h, --help              this text

Exit code: 0 all answers as expected, 1 errors or no server, 2 wrong usage,
130 interrupted with Ctrl-C (what was measured is still printed).
`

export interface Command {
  url: string
  plan: LoadPlan
  /** A file, `-` for standard output, or undefined. */
  json: string | undefined
}

/** Reads the command line. @returns 'help' if that was asked for
 * @throws {UsageError} */
export function readCommand(args: string[]): Command | 'help' {
  const { values, positionals } = parse(args)
  if (values.help) return 'help'
  const url = readUrl(positionals)
  const plan: LoadPlan = {
    target: values.socket === undefined ? urlTarget(url) : { socketPath: values.socket },
    path: `${url.pathname}${url.search}`,
    method: values.method.toUpperCase(),
    headers: { host: url.host, ...readHeaders(values.header) },
    connections: readNumber('--connections', values.connections),
    durationMs: readTime('--duration', values.duration),
    warmupMs: readTime('--warmup', values.warmup),
    timeoutMs: readTime('--timeout', values.timeout),
    expect: { status: readNumber('--expect-status', values['expect-status']) },
  }
  validate(plan)
  return { url: url.href, plan, json: values.json }
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        connections: { type: 'string', short: 'c', default: '64' },
        duration: { type: 'string', short: 'd', default: '10s' },
        warmup: { type: 'string', default: '0s' },
        method: { type: 'string', default: 'GET' },
        header: { type: 'string', short: 'H', multiple: true, default: [] },
        timeout: { type: 'string', default: '5s' },
        'expect-status': { type: 'string', default: '200' },
        socket: { type: 'string' },
        json: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
  } catch (error) {
    // parseArgs explains itself in several sentences; the first says what is wrong.
    const [reason = ''] = (error as Error).message.split(/\. |\n/)
    throw new UsageError(`${reason.replace(/\.$/, '')}: see pnpm load --help.`)
  }
}

function readUrl([text, extra]: string[]): URL {
  if (text === undefined) throw new UsageError('Which URL? For example: pnpm load http://127.0.0.1:3000/json')
  if (extra !== undefined)
    throw new UsageError(`One URL at a time: ${JSON.stringify(extra)} is one argument too many.`)
  const url = URL.parse(text)
  if (url?.protocol === 'https:')
    throw new UsageError('https is not supported: this generator speaks HTTP/1.1 without TLS.')
  if (url?.protocol !== 'http:' || url.username !== '' || url.password !== '') {
    throw new UsageError(`${JSON.stringify(text)} is not a URL such as http://127.0.0.1:3000/json.`)
  }
  return url
}

function urlTarget({ hostname, port }: URL): Target {
  return { host: hostname.replace(/^\[(.*)\]$/, '$1'), port: port === '' ? 80 : Number(port) }
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

function readNumber(option: string, text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text)
  throw new UsageError(`${option} is ${JSON.stringify(text)}, but must be a whole number.`)
}

function readTime(option: string, text: string): number {
  const milliseconds = parseDuration(text)
  if (milliseconds !== undefined) return milliseconds
  throw new UsageError(`${option} is ${JSON.stringify(text)}, but must be a time such as 500ms, 5s or 1m.`)
}

function validate(plan: LoadPlan): void {
  try {
    validatePlan(plan)
  } catch (error) {
    if (error instanceof LoadError) throw new UsageError(error.message)
    throw error
  }
}
