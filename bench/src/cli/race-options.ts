import { UsageError } from '@startgrid/cli/arguments.ts'
import { type Option, readCommandLine, type Values } from '@startgrid/cli/options.ts'
import {
  directoryOfPerson,
  readPath,
  readPaths,
  readRequest,
  readTarget,
} from '@startgrid/loadgen/request.ts'
import { withoutQueryValues } from '@startgrid/servers/request.ts'
import { formatTarget } from '@startgrid/wire/target.ts'
import { namesOf, withoutValues } from '../experiment/command-line.ts'
import type { RaceSystem, Weighted } from '../experiment/race.ts'
import { withoutFolder } from '../experiment/result.ts'
import { WITHIN } from '../judge/verdict.ts'
import { RACE } from './options.ts'

/** What `race` is asked to do. */
export type RaceOptions = ReturnType<typeof readRaceOptions>

/** Starts of each system that should fit, and those of one that is alone. */
const HEATS = 10
/** Milliseconds. */
const USUAL_TIME = 180_000
const BISECT_TIME = 1_200_000

/** @throws {UsageError} in one sentence */
export function readRaceOptions(args: readonly string[], program: string) {
  const { values, positionals } = readCommandLine(args, RACE, program)
  const { git, 'expect-status': status } = values
  assertGit(git, positionals)
  if (positionals.length + git.length === 0)
    throw new UsageError(
      `Name what to race: ${program} 'node before.js' 'node after.js'. ${program} --help shows more.`,
    )
  if (values.why) assertCanTellWhy(git, positionals)
  if (positionals.some((line) => line.trim() === ''))
    throw new UsageError('A command is empty: a shell variable in it may not be set.')
  const requests = readRequests(values)
  const readyTimeoutMs = values['ready-timeout']
  const [first = { path: '/' }, ...others] = requests
  const or = others.map((one) => one.path)
  const path = values['ready-path']
  const ready =
    path === undefined ? { ...first, or, ...(status !== undefined && { status }) } : { path: readPath(path) }
  const [one = '', other = 'working tree'] = git
  const refs = [one, other === one ? `${one} (again)` : other]
  const names = readNames(values.name, git.length > 0 ? refs : namesOf(positionals))
  const directory = directoryOfPerson()
  const { heats, bisect } = values
  const searchMs = values['max-time'] ?? BISECT_TIME
  const usualMs = heats === undefined ? USUAL_TIME : undefined
  if (bisect) assertCanBisect(git, requests, searchMs)
  return {
    ...values,
    /** As a person types it: `pnpm bench race`. */
    program,
    /** With `--git`, what is started is known when it is checked out. */
    systems: names.map((name, index): RaceSystem => {
      const line = positionals[index] ?? ''
      return isUrl(line)
        ? { name, running: readOrigin(line), ready }
        : { name, command: { command: line, directory, ready, readyTimeoutMs } }
    }),
    ready: { ready, readyTimeoutMs },
    /** Where the person typed. */
    directory,
    requests,
    heats: heats ?? HEATS,
    /** One alone has nothing to be compared with. */
    fillsTime: heats === undefined && (names.length > 1 || values['max-time'] !== undefined),
    /** Of a search, both ends are raced first; it ends when they are known. */
    maxTimeMs: bisect ? searchMs / 2 : (values['max-time'] ?? usualMs),
    searchMs,
    within: values.within ?? WITHIN,
    fails: values['fail-if-slower'],
    /** Systems may send different responses. Of two commits that is normal. */
    different: values['different-responses'] || git.length > 0,
    status,
    /** What was typed, without values that may be secret. */
    words: withoutSecrets(args),
  }
}

function assertGit(git: readonly string[], commands: readonly string[]): void {
  if (git.length > 0 && commands.length > 0)
    throw new UsageError('--git and commands exclude each other: --command says how both sides are started.')
  if (git.length > 2) throw new UsageError('--git may be given twice at most.')
}

function assertCanBisect(git: readonly string[], requests: readonly Weighted[], ms: number): void {
  if (git.length !== 2)
    throw new UsageError('--bisect searches between two commits: --git GOOD --git BAD --bisect.')
  if (requests.length > 1 && requests.every(({ weight }) => weight === undefined))
    throw new UsageError('--bisect searches with one path: name one, or mix several with weights.')
  if (ms < USUAL_TIME)
    throw new UsageError('--bisect races both ends and some commits between: give it --max-time 3m at least.')
}

function assertCanTellWhy(git: readonly string[], systems: readonly string[]): void {
  if (process.platform !== 'linux')
    throw new UsageError('--why needs Linux, whose kernel tells the CPU time of each thread.')
  if (systems.some(isUrl))
    throw new UsageError('--why profiles what it starts: name commands or --git instead of an address.')
  if (git.length === 0 && systems.length !== 2)
    throw new UsageError(`--why compares two systems, not ${systems.length}.`)
}

function readRequests({ path, ...words }: Values<typeof RACE>): Weighted[] {
  const request = readRequest(words)
  const paths = readPaths(path.length === 0 ? ['/'] : path)
  return [...new Map(paths.map((one) => [one.path, one])).values()].map((one) => ({ ...one, ...request }))
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
  return /^(?:https?:\/\/\S+|unix:.+)$/.test(line)
}

function readOrigin(line: string): string {
  if (line.startsWith('unix:')) return formatTarget(readTarget(line))
  const url = URL.parse(line)
  const shown = url === null ? 'An address' : `'${url.origin}'`
  if (url === null || url.protocol !== 'http:' || url.pathname !== '/' || url.search !== '')
    throw new UsageError(
      `${shown} must be an http:// address without a path, such as http://127.0.0.1:3000; --path says what is asked.`,
    )
  if (url.username !== '' || url.password !== '')
    throw new UsageError(`${shown} must not hold a name and a password: --header says who asks.`)
  return formatTarget(readTarget(url.origin))
}

/** How the value of an option is told; of others whole. */
const TOLD: Readonly<Record<string, (value: string) => string>> = {
  '--header': (value) => value.replace(/:.*$/s, ': …'),
  '--body': (value) => (value.startsWith('@') ? value : '…'),
  '--command': withoutValues,
  '--install': withoutValues,
  '--build': withoutValues,
  '--path': withoutQueryValues,
  '--ready-path': withoutQueryValues,
}

/** `--header` for `-H`. */
function longOf(typed: string): string {
  const name = Object.entries<Option<unknown>>(RACE).find(([, { short }]) => `-${short}` === typed)?.[0]
  return name === undefined ? typed : `--${name}`
}

/** What was typed, without values of headers, bodies, queries, flags and the environment. */
function withoutSecrets(args: readonly string[]): string[] {
  return args.map((word, index) => {
    const [, option = '', value = ''] = /^(--[a-z-]+=|-[A-Za-z])(.+)$/s.exec(word) ?? []
    if (option !== '') return `${option}${TOLD[longOf(option.replace('=', ''))]?.(value) ?? value}`
    if (word.startsWith('-')) return word
    const before = longOf(args[index - 1] ?? '')
    if (RACE[before.slice(2) as keyof typeof RACE]?.value != null) return TOLD[before]?.(word) ?? word
    return isUrl(word) ? withoutFolder(word) : withoutValues(word)
  })
}
