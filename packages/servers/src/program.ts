import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { realpathSync } from 'node:fs'
import { delimiter } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { listOf } from '@startgrid/cli/text.ts'
import { type Guard, MARK } from '@startgrid/machine/guard.ts'
import { readOr, readStat, readText } from '@startgrid/machine/proc.ts'
import { endProcesses, type Launched, startOf } from '@startgrid/machine/processes.ts'

/** A program of somebody else in a process group of its own, which the guard ends if we cannot. */
export interface Program {
  child: ChildProcess
  group: number
  /** It and all that it started. */
  launched: Launched
  /** What it printed of an error, or last; empty if nothing. */
  lastLines(): string
  /** SIGTERM, and after a while SIGKILL for what does not heed it. @returns whether that was needed */
  end(graceMs?: number): Promise<boolean>
}

interface ProgramOptions {
  directory: string
  guard: Guard
  env?: Readonly<Record<string, string>>
  /** It is told to listen there, and nobody does yet. */
  port?: number
}

let count = 0

/** @throws {Error} with a clause if it cannot be started */
export async function startProgram(
  [file = '', ...args]: readonly string[],
  { directory, guard, env, port }: ProgramOptions,
): Promise<Program> {
  const mark = `${guard.run}.${++count}`
  const child = spawn(file, args, {
    cwd: directory,
    env: { ...personsEnvironment(), ...env, [MARK]: mark },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  const group = child.pid
  if (group === undefined) {
    const [error] = await once(child, 'error')
    throw new Error(`${file} cannot be started (${(error as NodeJS.ErrnoException).code})`)
  }
  const claim = port === undefined ? undefined : { port, since: startOf(group) }
  const guarded = { group, ...(claim && { claim }) }
  guard.add(guarded)
  const launched = { groups: [group], mark: `${MARK}=${mark}`, claims: claim ? [claim] : [] }
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-KEPT_OUTPUT)
    })
  const end = async (graceMs = 5000) => {
    const heeded = await endProcesses(launched, graceMs)
    guard.remove(guarded)
    child.stdout.destroy()
    child.stderr.destroy()
    return !heeded
  }
  return { child, group, launched, lastLines: () => linesOfError(output), end }
}

/**
 * Runs a program to its end, with what it started.
 * @returns why it failed: a clause; undefined if it did not
 */
export async function runProgram(
  command: readonly string[],
  { signal, ...options }: ProgramOptions & { signal: AbortSignal },
): Promise<string | undefined> {
  signal.throwIfAborted()
  const program = await startProgram(command, options)
  const stop = () => void program.end(1000)
  signal.addEventListener('abort', stop, { once: true })
  const [code, by] = await once(program.child, 'exit')
  signal.removeEventListener('abort', stop)
  await program.end(1000)
  if (code === 0) return undefined
  const lines = program.lastLines()
  return `${command.join(' ')} ${by === null ? `ended with exit code ${code}` : `was ended by ${by}`}${lines && `: ${lines}`}`
}

/**
 * The environment of the person's shell: without what package managers that started us added about us. On their PATH that is our own Node and what npx
 * fetched; the programs of the person's project stay.
 */
export function personsEnvironment(): NodeJS.ProcessEnv {
  const { PATH: path = '', ...rest } = process.env
  // What the first package manager of those that started us got from the shell (Linux).
  const typed = new Set(environmentOf(firstStarted()))
  const isTyped = ([name, value]: [string, unknown]) => !ADDED.test(name) || typed.has(`${name}=${value}`)
  const own = Object.entries(rest).filter(isTyped)
  const isOwnNode = (file: string) => readOr(false, () => realpathSync(file) === process.execPath)
  const isOurs = (directory: string) =>
    /[\\/](?:_npx[\\/]|node-gyp-bin$)/.test(directory) ||
    (directory.includes('node_modules') && isOwnNode(`${directory}/node`))
  const kept = path.split(delimiter).filter((directory) => !isOurs(directory))
  return { ...Object.fromEntries(own), PATH: kept.join(delimiter) }
}

/** As `NAME=value` (Linux). */
function environmentOf(pid: number): string[] {
  return readText(`/proc/${pid}/environ`).split('\0')
}

/** The nearest of us and those that started us that no package manager started. */
function firstStarted(pid = process.pid): number {
  const isAdded = environmentOf(pid).some((one) => /^npm_(?:command|execpath|lifecycle_event)=/.test(one))
  return isAdded ? firstStarted(Number(readStat(pid)[1])) : pid
}

/**
 * `TOKEN=… ` for each variable that stood before the command (Linux): what the shell itself was not started with. An interactive shell exports more
 * than that, but Bash puts what was typed first; of other ones nobody can tell.
 */
export function variablesBefore(): string {
  const pid = firstStarted()
  const shell = Number(readStat(pid)[1])
  const isScript = readText(`/proc/${shell}/cmdline`).split('\0').filter(Boolean).length > 1
  const [all, ofShell] = [environmentOf(pid), environmentOf(shell)]
  const known = new Set(ofShell.length > 1 ? ofShell : all) // that of another user cannot be read
  const first = all.findIndex((one) => known.has(one))
  const names = (isScript ? all : all.slice(0, first)).flatMap((one) =>
    known.has(one) ? [] : (/^[A-Za-z]\w*(?==)/.exec(one)?.[0] ?? []),
  )
  const isKnown = /^(?:PATH|PWD|OLDPWD|SHLVL|STARTGRID_DIRECTORY|npm_config_\w+)$/
  const told = names.filter((name) => !isKnown.test(name))
  return told.map((name) => `${name}=… `).join('')
}

const ADDED = /^(?:npm_|pnpm_|PNPM_(?:SCRIPT_SRC_DIR|PACKAGE_NAME)$|NODE$)/

/** Of the person's own program, asked there, because version managers decide by directory: `22.15.0`. Undefined if there is none. */
export function versionOf(tool: string, directory: string): string | undefined {
  const options = { cwd: directory, env: personsEnvironment(), encoding: 'utf8', timeout: 10_000 } as const
  const { status, stdout } = spawnSync(tool, ['--version'], options)
  return status === 0 ? /\d[\w.+-]*/.exec(stdout)?.[0] : undefined
}

/** `node 22.15.0 and bun 1.3.0`: what the servers of that directory are started with, as far as it is there. */
export function toolsOf(directory: string, manager?: string): string {
  const tools = ['node', 'bun', ...(manager === undefined || manager === 'bun' ? [] : [manager])]
  const versions = tools.map((tool) => [tool, versionOf(tool, directory)] as const)
  const found = versions.flatMap(([tool, version]) => (version ? `${tool} ${version}` : []))
  return found.length === 0 ? 'neither node nor bun' : listOf(found)
}

/** So many characters of output are kept: the last ones. */
const KEPT_OUTPUT = 64 * 1024
const SHOWN_LINES = 3

/** An error's own lines, which Node prints first and its stack after them; if there is none, the last lines. */
function linesOfError(output: string): string {
  const lines = stripVTControlCharacters(output)
    .split('\n')
    .filter((line) => line.trim() !== '')
  const thrown = lines.findLastIndex((line) => /^(?:[\w.:]*(?:Error|Exception)\b|panic:)/.test(line))
  const from = thrown < 0 ? lines.findIndex((line) => /\berr(?:or)?\b|\bfatal\b/i.test(line)) : thrown
  const found = from < 0 ? lines.slice(-SHOWN_LINES) : lines.slice(from, from + SHOWN_LINES)
  const stack = found.findIndex((line) => /^\s+at /.test(line))
  return found
    .slice(0, stack < 0 ? undefined : stack)
    .join(' | ')
    .slice(0, 300)
}
