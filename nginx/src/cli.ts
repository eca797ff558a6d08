import { rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { UsageError } from '@startgrid/cli/arguments.ts'
import { flag, helpOf, integer, readCommandLine, text, texts, type Values } from '@startgrid/cli/options.ts'
import { requireNginx } from './find/find.ts'
import { formatAddress, formatUpstream, parseAddress, parseUpstream } from './render/address.ts'
import { checkFronts, type Front, TOPOLOGIES, upstreamsOf } from './render/render.ts'
import { awaitResponses, leave, readErrors } from './run/launch.ts'
import {
  endOrphans,
  explainRejection,
  isMasterOf,
  isRunning,
  readText,
  stopMaster,
  workersOf,
} from './run/master.ts'
import { setUp } from './run/setup.ts'

const OPTIONS = {
  topology: text('NAME', `${TOPOLOGIES.join(', ')}; default nginx`),
  listen: text('ADDRESS', 'where it listens, default 127.0.0.1:8080; port 0 takes a free one'),
  upstream: texts(
    'ADDRESS',
    'the app: HOST:PORT, or the path of a unix socket; default 127.0.0.1:3000; may be repeated for copies, which share the requests',
  ),
  assets: text('DIR', 'serve /assets/ from there instead of asking the app'),
  workers: integer('worker processes', { min: 1, max: 256, default: 1 }),
  help: flag('this text', { short: 'h' }),
}

const HELP = `An NGINX in front of an app, in the background, without root and apart from the
system's own.

  pnpm nginx start      start it
  pnpm nginx status     say whether it runs, and how
  pnpm nginx stop       finish what is in flight, then end

Options of start:
${helpOf(OPTIONS)}

STARTGRID_NGINX=/path/of/nginx says which NGINX to use.

Exit codes: 0 done, or nothing to do; 1 failed; 2 not understood; 3 status: it
does not run.
`

/** The files of a user's one background NGINX: in $XDG_RUNTIME_DIR, which ends with the session, or in the cache. */
const CACHE = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
const DIR = join(process.env.XDG_RUNTIME_DIR || join(CACHE, 'startgrid/run'), 'startgrid-nginx')
const PID_FILE = join(DIR, 'nginx.pid')
const CONFIG = join(DIR, 'nginx.conf')
const STATE = join(DIR, 'state.json')

/** What is stored beside the files of NGINX. */
interface State {
  readonly path: string
  /** For a person: which NGINX, from where to where. */
  readonly summary: string
}

interface Running extends State {
  readonly pid: number
  readonly dir: string
}

async function main(args: string[]): Promise<number> {
  const { values, positionals } = readCommandLine(args, OPTIONS, 'pnpm nginx')
  const [command, ...operands] = positionals
  if (values.help || command === 'help') return say(HELP.trimEnd())
  if (operands.length > 0) throw new UsageError(`${command} takes no ${operands[0]}.`)
  if (command === 'start') return start(values)
  if (command === 'status') return status()
  if (command === 'stop') return stop()
  const said = command === undefined ? 'Say what to do' : `There is no command ${JSON.stringify(command)}`
  throw new UsageError(`${said}: start, status or stop.`)
}

async function start(values: Values<typeof OPTIONS>): Promise<number> {
  const front = readFront(values)
  const { workers } = values
  const wanted = {
    fronts: [front],
    accessLog: `"${join(DIR, 'access.log')}" startgrid if=$logged`,
  }
  const running = findRunning()
  if (running !== undefined)
    throw new Error(`NGINX is running already: ${running.summary} Stop it first with pnpm nginx stop.`)
  const nginx = await requireNginx()
  rmSync(DIR, { recursive: true, force: true })
  const setup = await setUp(nginx, wanted, { dir: DIR, workers })
  writeFileSync(CONFIG, setup.config)
  const { pid = 0 } = leave({ path: nginx.path, dir: DIR })
  await awaitResponses(setup, () => isRunning(pid)).catch((error: unknown) => {
    if (isRunning(pid)) process.kill(pid, 'SIGTERM')
    const log = readErrors(DIR)
    throw log === '' ? error : new Error(explainRejection(log))
  })
  const [listen = front.listen] = setup.addresses
  const scheme = front.topology === 'nginx-tls' ? 'https' : 'http'
  const apps = upstreamsOf(front).map(formatUpstream).join(' and ')
  const summary = `${nginx.describe()}: ${scheme}://${formatAddress(listen)} to ${apps}.`
  const state: State = { path: nginx.path, summary }
  writeFileSync(STATE, JSON.stringify(state))
  return say(`Started ${summary}`)
}

function status(): number {
  const running = findRunning()
  if (running === undefined) {
    say('NGINX is not running.')
    return 3
  }
  const ids = workersOf(running.pid).map(({ pid }) => pid)
  say(`NGINX is running: ${running.summary}`)
  return say(`Master process ${running.pid}, workers ${ids.join(', ')}; files and logs in ${DIR}.`)
}

async function stop(): Promise<number> {
  const running = findRunning()
  if (running === undefined) return say('NGINX is not running; there is nothing to stop.')
  const isDrained = await stopMaster(running, 10_000)
  rmSync(DIR, { recursive: true, force: true })
  const how = isDrained
    ? 'every request in flight got its response'
    : 'what was still in flight after 10 s was cut off'
  return say(`Stopped ${running.summary.replace(/\.$/, '')}; ${how}.`)
}

/** The background NGINX, if it runs. Of one that was killed, the workers are ended. */
function findRunning(): Running | undefined {
  const pid = Number(readText(PID_FILE))
  const state = readText(STATE)
  if (state !== '' && isMasterOf(pid, DIR)) return { ...(JSON.parse(state) as State), pid, dir: DIR }
  if (pid > 0) endOrphans(pid)
  return undefined
}

function readFront(values: Values<typeof OPTIONS>): Front {
  const { listen = '127.0.0.1:8080' } = values
  const topology = TOPOLOGIES.find((name) => name === (values.topology ?? 'nginx'))
  if (topology === undefined) throw new UsageError(`--topology must be one of ${TOPOLOGIES.join(', ')}.`)
  try {
    const [first = '127.0.0.1:3000', ...others] = values.upstream
    const upstream = parseUpstream(first)
    const copies = others.map(parseUpstream)
    const { INIT_CWD = '.' } = process.env // where the person is: pnpm runs scripts in the package's directory
    const assets = values.assets === undefined ? {} : { serveAssets: resolve(INIT_CWD, values.assets) }
    const front = { name: 'app', topology, listen: parseAddress(listen), upstream, copies, ...assets }
    checkFronts([front])
    return front
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function say(text: string): 0 {
  console.log(text)
  return 0
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = error instanceof UsageError ? 2 : 1
}
