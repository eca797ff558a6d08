import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  parseCommandLine,
  readDuration,
  readInteger,
  readPercent,
  UsageError,
} from '@startgrid/cli/arguments.ts'
import { addressOf, isLoopback } from '../environments/target/origin.ts'
import { namesOf, type RaceSystem, withoutValues } from '../experiment/race.ts'
import { type Asked, type Command, nameAsked } from '../model/experiment.ts'
import type { RaceRecord } from '../model/result.ts'
import { OUTPUT_HELP } from './help.ts'
import { OUTPUT, readMaxTime } from './options.ts'

/** What `pnpm bench race` is asked to do. */
export interface RaceOptions {
  /** With `git`, what is started is known when it is checked out. */
  systems: readonly RaceSystem[]
  /** Refs to check out; one is compared with the working tree. */
  git: readonly string[]
  /** What starts a checkout, instead of its own start script. */
  start: string | undefined
  ready: Omit<Command, 'command' | 'directory'>
  /** Where the person typed. */
  directory: string
  requests: readonly Asked[]
  connections: number
  heats: number
  /** As a part of 1; null: so many heats. */
  precision: number | null
  cores: number
  maxTimeMs: number | undefined
  /** Systems may send different responses. */
  different: boolean
  /** Undefined: any 2xx. */
  status: number | undefined
  seed: number
  json: string | undefined
  output: string | undefined
  help: boolean
  /** What was typed, without values that may be secret. */
  words: readonly string[]
}

export const RACE_HELP = `pnpm bench race COMMAND COMMAND ...   starts servers and compares them
pnpm bench race URL URL ...           servers that run on this machine
pnpm bench race --git REF             this directory, against that commit
pnpm bench race 'node before.js' 'node after.js'

A command is run by a shell, with your rights. It has to listen on the port in
PORT, or on {port} in its words, at the address in HOST. With --git, the install
scripts of both sides are run as well.

  --git REF           checked out, installed and built in a temporary directory,
                      as is this directory with what is not committed; given
                      twice, two refs
  --command COMMAND   starts them, instead of their start script
  --path PATH         what is asked; several are compared one by one (default /)
  --method METHOD     default GET
  --header 'N: VALUE' of every request; several may be given
  --body TEXT|@FILE   of every request
  --expect-status N   of a right response (default any 2xx)
  --different-responses
                      goes on although the systems do different work
  -c, --connections N kept open, each with one request in flight (default 32)
  --name A=NAME       what reports call the first system; B= the second ...
  --ready-path PATH   ready when this is responded to with 2xx
  --ready-timeout T   default 30s
  --heats N           starts of each system, 2 to 100 (default 10)
  --precision P       as many starts as 95 % intervals of plus or minus P need, by
                      the spread of the first ten, at most 100: 1%
  --cores N           of this machine for the servers (default 1)
  --max-time T        drops the last starts when time runs out: 90s, 10m
  --seed N            repeats an order
${OUTPUT_HELP}
`

const OPTIONS = {
  ...OUTPUT,
  git: { type: 'string', multiple: true },
  command: { type: 'string' },
  path: { type: 'string', multiple: true },
  method: { type: 'string' },
  header: { type: 'string', multiple: true },
  body: { type: 'string' },
  'expect-status': { type: 'string' },
  'different-responses': { type: 'boolean' },
  connections: { type: 'string', short: 'c' },
  name: { type: 'string', multiple: true },
  'ready-path': { type: 'string' },
  'ready-timeout': { type: 'string' },
  heats: { type: 'string' },
  precision: { type: 'string' },
  cores: { type: 'string' },
  'max-time': { type: 'string' },
} as const

const LEAST_HEATS = 2
const HEATS = 10

/** @throws {UsageError} in one sentence */
export function readRaceOptions(args: readonly string[]): RaceOptions {
  const { values, positionals } = parseCommandLine(args, OPTIONS, 'pnpm bench race')
  const help = values.help === true
  const { git = [], command: start } = values
  assertGit(git, start, positionals)
  if (positionals.length + git.length === 0 && !help)
    throw new UsageError(
      "Name what to race: pnpm bench race 'node before.js' 'node after.js'. pnpm bench race --help shows more.",
    )
  const requests = readRequests(values)
  const status =
    values['expect-status'] === undefined
      ? undefined
      : readInteger('--expect-status', values['expect-status'], 200, 599)
  const readyTimeoutMs = readDuration('--ready-timeout', values['ready-timeout'] ?? '30s', 100)
  const [first = { path: '/' }] = requests
  const path = values['ready-path']
  const ready =
    path === undefined ? { ...first, ...(status !== undefined && { status }) } : { path: readPath(path) }
  const usual = git.length === 1 ? [...git, 'working tree'] : git
  const names = readNames(values.name ?? [], git.length > 0 ? [...usual] : namesOf(positionals))
  const directory = directoryOfPerson()
  return {
    systems: names.map((name, index) => {
      const line = positionals[index] ?? ''
      return isUrl(line)
        ? { name, running: { origin: readLocal(line), role: null, absent: [] } }
        : { name, command: { command: line, directory, ready, readyTimeoutMs } }
    }),
    git,
    start,
    ready: { ready, readyTimeoutMs },
    directory,
    requests,
    connections: readInteger('--connections', values.connections ?? '32', 1, 10_000),
    heats: readInteger('--heats', values.heats ?? String(HEATS), LEAST_HEATS, 100),
    precision: values.precision === undefined ? null : readPercent('--precision', values.precision),
    cores: readInteger('--cores', values.cores ?? '1', 1, 1024),
    maxTimeMs: readMaxTime(values['max-time']),
    // Of two commits, other bodies are normal.
    different: values['different-responses'] === true || git.length > 0,
    status,
    seed: readInteger('--seed', values.seed ?? String(Math.floor(Math.random() * 2 ** 32)), 0, 2 ** 32 - 1),
    json: values.json,
    output: values.output,
    help,
    words: withoutSecrets(args),
  }
}

function assertGit(git: readonly string[], start: string | undefined, commands: readonly string[]): void {
  if (git.length === 0 && start !== undefined)
    throw new UsageError('--command starts what --git checks out: without it, give commands as they are.')
  if (git.length > 0 && commands.length > 0)
    throw new UsageError('--git and commands exclude each other: --command says how both sides are started.')
  if (git.length > 2) throw new UsageError('--git may be given twice at most.')
}

/** What a result keeps of what was asked for. */
export function recordOfRace(
  { requests, connections, precision }: RaceOptions,
  systems: readonly RaceSystem[],
): RaceRecord {
  return {
    systems: systems.map(({ name, command, running, commit }) => ({
      name,
      commit: commit ?? null,
      command: command === undefined ? null : withoutValues(command.command),
      url: running?.origin ?? null,
    })),
    requests: requests.map((asked) => ({
      name: nameAsked(asked),
      method: asked.method ?? 'GET',
      path: asked.path,
      headers: Object.keys(asked.headers ?? {}),
      bodyBytes: asked.body === undefined ? null : Buffer.byteLength(asked.body),
    })),
    connections,
    precision,
    pilots: [],
  }
}

type Values = ReturnType<typeof parseCommandLine<typeof OPTIONS>>['values']

function readRequests({ path = ['/'], method, header = [], body }: Values): Asked[] {
  const headers = Object.fromEntries(header.map(readHeader))
  const text = body === undefined ? undefined : readBody(body)
  return [...new Set(path.map(readPath))].map((one) => ({
    path: one,
    ...(method !== undefined && { method: method.toUpperCase() }),
    ...(header.length > 0 && { headers }),
    ...(text !== undefined && { body: text }),
  }))
}

function readPath(path: string): string {
  if (/^\/[!-~]*$/.test(path) && !/[{}]/.test(path)) return path
  throw new UsageError(
    `--path is '${path}', but must begin with / and hold visible ASCII characters only, without braces: /api/items.`,
  )
}

function readHeader(text: string): [string, string] {
  const [, name, value] = /^([!#$%&'*+\-.^_`|~0-9A-Za-z]+):\s*(.*)$/.exec(text) ?? []
  if (name !== undefined && value !== undefined) return [name, value]
  throw new UsageError("--header needs a name, a colon and a value: --header 'accept: application/json'.")
}

function readBody(text: string): string {
  if (!text.startsWith('@')) return text
  try {
    return readFileSync(resolve(directoryOfPerson(), text.slice(1)), 'utf8')
  } catch (error) {
    throw new UsageError(
      `--body names ${text.slice(1)}, which cannot be read (${(error as NodeJS.ErrnoException).code}).`,
    )
  }
}

/** `A=before`: A is the first system. */
function readNames(given: readonly string[], usual: readonly string[]): string[] {
  const names = [...usual]
  for (const text of given) {
    const [, letter = '', name = ''] = /^([A-Z])=(.{1,30})$/.exec(text) ?? []
    const place = letter.charCodeAt(0) - 'A'.charCodeAt(0)
    if (!(place < names.length))
      throw new UsageError(
        `--name is '${text}', but must be a system's letter and its name of at most 30 characters: A=before.`,
      )
    names[place] = name
  }
  if (new Set(names).size < names.length) throw new UsageError('Two systems have the same --name.')
  return names
}

function isUrl(line: string): boolean {
  return /^https?:\/\/\S+$/.test(line)
}

function readLocal(line: string): string {
  const url = URL.parse(line)
  if (url === null || url.protocol !== 'http:' || url.pathname !== '/' || url.search !== '')
    throw new UsageError(
      `'${line}' must be an http:// address without a path, such as http://127.0.0.1:3000; --path says what is asked.`,
    )
  if (url.username !== '' || url.password !== '' || !isLoopback(url.origin))
    throw new UsageError(
      `'${line}' is not on this machine: race servers on 127.0.0.1, or measure one elsewhere with pnpm bench --target.`,
    )
  const { host, port } = addressOf(url.origin)
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Where the person typed: a package manager runs scripts in the directory of the package. */
function directoryOfPerson(): string {
  const { npm_lifecycle_event: script, INIT_CWD: directory } = process.env
  return script === 'bench' && directory !== undefined ? directory : process.cwd()
}

/** Values of headers, of bodies and of the environment are nobody else's. */
function withoutSecrets(args: readonly string[]): string[] {
  return args.map((word, index) => {
    const before = args[index - 1]
    if (before === '--header') return word.replace(/:.*$/s, ': …')
    if (word.startsWith('--header=')) return word.replace(/:.*$/s, ': …')
    if (before === '--body' && !word.startsWith('@')) return '…'
    if (/^--body=[^@]/.test(word)) return '--body=…'
    return withoutValues(word)
  })
}
