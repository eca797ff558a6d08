/**
 * Compares this generator with wrk on the same core against the same NGINX `return 200` on another: `node compare-wrk.ts`.
 * Many short turns, because a shared machine's speed drifts from second to second; turns in which
 * other processes wanted the cores are told apart by the kernel's own account of waiting, never by their result.
 */

import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { LoadError, type LoadGenerator, startGenerator, sumErrors } from './src/index.ts'
import { probe } from './src/target.ts'

const SERVER_CPU = 0
const GENERATOR_CPU = 1
const CONNECTIONS = 64
/** A pair in which processes waited for a core for more than this part of its time says more about the others. */
const DISTURBED = 0.05
const HOST = '127.0.0.1'

const { values } = parseArgs({
  options: { pairs: { type: 'string', default: '21' }, seconds: { type: 'string', default: '1' } },
})
const pairs = Number(values.pairs)
const seconds = Number(values.seconds)

function find(program: string): string {
  // Debian keeps nginx in /usr/sbin, which is not on every user's PATH.
  const directories = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin']
  const found = directories.map((directory) => join(directory, program)).find(isExecutable)
  if (found === undefined)
    throw new LoadError(`${program} is not on the PATH: install it to make this comparison.`)
  return found
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** NGINX cannot pick a port itself. */
async function freePort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  const server = createServer().listen(0, HOST, () => {
    const address = server.address()
    server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
  })
  return promise
}

function configuration(port: number, directory: string): string {
  return `
    worker_processes 1; daemon off; pid ${directory}/nginx.pid; error_log stderr crit;
    events { worker_connections 1024; }
    http {
      access_log off; keepalive_requests 1000000000;
      server { listen ${HOST}:${port}; location / { return 200 "Hello World!"; } }
    }`
}

async function withNginx(measure: (port: number) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'compare-wrk-'))
  const port = await freePort()
  const file = join(directory, 'nginx.conf')
  await writeFile(file, configuration(port, directory))
  const command = ['-c', String(SERVER_CPU), find('nginx'), '-e', 'stderr', '-p', directory, '-c', file]
  const nginx = spawn(find('taskset'), command, { stdio: ['ignore', 'ignore', 'inherit'] })
  try {
    await accepting(port)
    await measure(port)
  } finally {
    const exited = once(nginx, 'exit')
    if (nginx.exitCode === null && nginx.kill('SIGTERM')) await exited
    await rm(directory, { recursive: true })
  }
}

async function accepting(port: number): Promise<void> {
  for (let attempt = 0; attempt < 100; attempt++) {
    if ((await probe({ host: HOST, port })) === undefined) return
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new LoadError('NGINX does not accept connections after 5 s: see its message above.')
}

async function wrkRate(port: number): Promise<number> {
  const wrk = [find('wrk'), '-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, `http://${HOST}:${port}/`]
  const { stdout } = await promisify(execFile)(find('taskset'), ['-c', String(GENERATOR_CPU), ...wrk])
  return Number(/Requests\/sec:\s*([\d.]+)/.exec(stdout)?.[1])
}

async function ownRate(generator: LoadGenerator, port: number): Promise<number> {
  const target = { host: HOST, port }
  const load = { target, path: '/', connections: CONNECTIONS, warmupMs: 500, durationMs: 1000 * seconds }
  const { rate, errors } = await generator.run(load)
  if (sumErrors(errors) > 0) throw new LoadError(`There were errors: ${JSON.stringify(errors)}.`)
  return rate
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  return ((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2
}

/** Microseconds since boot during which some process waited for a core: https://docs.kernel.org/accounting/psi.html */
function waited(): number {
  return Number(/total=(\d+)/.exec(readFileSync('/proc/pressure/cpu', 'utf8'))?.[1])
}

interface Pair {
  wrk: number
  own: number
  /** Part of the pair's time in which a process waited for a core. Each of ours has one of its own, so this is others' doing. */
  waiting: number
}

async function measurePair(generator: LoadGenerator, port: number): Promise<Pair> {
  const [start, before] = [performance.now(), waited()]
  const wrk = await wrkRate(port)
  const own = await ownRate(generator, port)
  const waiting = (waited() - before) / 1000 / (performance.now() - start)
  return { wrk, own, waiting }
}

async function compare(port: number): Promise<void> {
  const generator = await startGenerator({ cpu: GENERATOR_CPU })
  const all: Pair[] = []
  for (let n = 0; n < pairs; n++) {
    const pair = await measurePair(generator, port)
    all.push(pair)
    console.log(`${line(pair)}  waiting ${(100 * pair.waiting).toFixed(1)} %`)
  }
  await generator.stop()
  summarise(`all ${all.length} pairs`, all)
  const calm = all.filter(({ waiting }) => waiting < DISTURBED)
  summarise(`the ${calm.length} undisturbed pairs`, calm)
}

function summarise(name: string, some: readonly Pair[]): void {
  if (some.length === 0) return
  const medians = { wrk: median(some.map(({ wrk }) => wrk)), own: median(some.map(({ own }) => own)) }
  const paired = median(some.map(({ wrk, own }) => own / wrk))
  console.log(`medians of ${name}: ${line(medians)}; median of the ratios ${paired.toFixed(3)}`)
}

function line({ wrk, own }: { wrk: number; own: number }): string {
  return `wrk ${wrk.toFixed(0)}  loadgen ${own.toFixed(0)}  ratio ${(own / wrk).toFixed(3)}`
}

try {
  for (const program of ['nginx', 'wrk', 'taskset']) find(program)
  await withNginx(compare)
} catch (error) {
  if (!(error instanceof LoadError)) throw error
  console.error(error.message)
  process.exitCode = 1
}
