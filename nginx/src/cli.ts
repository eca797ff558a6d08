import { existsSync } from 'node:fs'
import { connect, isIP } from 'node:net'
import { resolve } from 'node:path'
import { parseCommandLine, UsageError } from '@startgrid/cli/arguments.ts'
import { plural } from '@startgrid/cli/text.ts'
import { requireNginx } from './find/find.ts'
import {
  formatAddress,
  formatUpstream,
  parseAddress,
  parseUpstream,
  type Upstream,
} from './render/address.ts'
import { checkFronts, type Front, TOPOLOGIES, type Topology, upstreamsOf } from './render/front.ts'
import {
  readState,
  reloadBackground,
  type State,
  startBackground,
  stateDirectory,
  stopBackground,
} from './run/background.ts'
import { workersOf } from './run/processes.ts'

const HELP = `An NGINX in front of an app, in the background, without root and apart from the system's own.

  pnpm nginx start      start it
  pnpm nginx status     say whether it runs, and how
  pnpm nginx reload     use the configuration files as they are now, without dropping a request
  pnpm nginx workers N  run N worker processes, without dropping a request
  pnpm nginx stop       finish what is in flight, then end

Options of start:
  --topology NAME     nginx (default), nginx-naive, nginx-socket or nginx-tls
  --listen ADDRESS    where it listens, default 127.0.0.1:8080; port 0 takes a free one
  --upstream ADDRESS  the app: HOST:PORT, or the path of a unix socket; default 127.0.0.1:3000;
                      again for a copy of it: they take turns, and stand in for each other
  --certificate FILE  for nginx-tls, with its chain; default one for localhost, made for a week
  --key FILE          of the certificate
  --trust NETWORKS    proxies in front, such as 10.0.0.0/8: their X-Forwarded-* headers are kept
  --assets DIRECTORY  serve /assets/ from there instead of asking the app
  --workers N         worker processes, default 1
  --no-download       do not download an NGINX if none is installed

STARTGRID_NGINX=path|docker|download|/path/of/nginx says which NGINX to use.

Exit codes: 0 done, or nothing to do; 1 failed; 2 not understood; 3 status: it does not run.
`

const OPTIONS = {
  topology: { type: 'string', default: 'nginx' },
  listen: { type: 'string', default: '127.0.0.1:8080' },
  upstream: { type: 'string', multiple: true },
  certificate: { type: 'string' },
  key: { type: 'string' },
  trust: { type: 'string', default: '' },
  assets: { type: 'string' },
  workers: { type: 'string', default: '1' },
  'no-download': { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const

type Values = ReturnType<typeof read>['values']

function read(args: string[]) {
  return parseCommandLine(args, OPTIONS, 'pnpm nginx')
}

async function main(args: string[]): Promise<number> {
  const { values, positionals } = read(args)
  const [command, ...operands] = positionals
  if (values.help || command === 'help') return say(HELP.trimEnd())
  const directory = stateDirectory()
  if (command === 'workers') return workers(operands, directory)
  if (operands.length > 0) throw new UsageError(`${command} takes no ${operands[0]}.`)
  if (command === 'start') return start(values, directory)
  if (command === 'status') return status(directory)
  if (command === 'reload') return reload(directory)
  if (command === 'stop') return stop(directory)
  const said = command === undefined ? 'Say what to do' : `There is no command ${JSON.stringify(command)}`
  throw new UsageError(`${said}: start, status, reload, workers N or stop.`)
}

async function start(values: Values, directory: string): Promise<number> {
  const front = readFront(values)
  const count = readCount(values.workers)
  const trusted = readTrusted(values.trust)
  const running = await readState(directory)
  if (running !== undefined) return startAgain(running, front, trusted)
  const nginx = await requireNginx({ download: !values['no-download'] })
  const state = await startBackground(nginx, front, count, trusted, directory)
  say(`Started ${summary(state)}`)
  const upstreams = upstreamsOf(front)
  if (!(await Promise.all(upstreams.map(listens))).includes(true)) {
    say(`Nothing listens on ${formatAll(upstreams)} yet: requests get 502 until it does.`)
  }
  return 0
}

/** The same again is done already; anything else would go unnoticed. */
function startAgain(running: State, wanted: Front, trusted: string): number {
  say(`NGINX is running already: ${summary(running)}`)
  const { port } = wanted.listen
  const asked = {
    ...wanted,
    listen: { ...wanted.listen, port: port === 0 ? running.front.listen.port : port },
  }
  const isSame = JSON.stringify(asked) === JSON.stringify(running.front)
  if (isSame && trusted === running.http.trustedProxies) return 0
  console.error('You asked for something else: stop it first with pnpm nginx stop.')
  return 1
}

async function status(directory: string): Promise<number> {
  const state = await readState(directory)
  if (state === undefined) {
    say('NGINX is not running.')
    return 3
  }
  say(`NGINX is running: ${summary(state)}`)
  const ids = workersOf(state.pid).map(({ pid }) => pid)
  say(`Master process ${state.pid}, workers ${ids.join(', ')}; files and logs in ${state.dir}.`)
  return 0
}

async function reload(directory: string): Promise<number> {
  const state = await requireState(directory)
  const next = await reloadBackground(state, state.workers, directory)
  return say(
    `Reloaded: ${plural(next.workers, 'worker')} with the configuration as it is now; no request was dropped.`,
  )
}

async function workers(operands: readonly string[], directory: string): Promise<number> {
  if (operands.length !== 1) throw new UsageError('Say how many: pnpm nginx workers N.')
  const count = readCount(operands[0] ?? '')
  const state = await requireState(directory)
  const next = await reloadBackground(state, count, directory)
  return say(
    `NGINX serves with ${plural(next.workers, 'worker')} now, before with ${state.workers}; no request was dropped.`,
  )
}

async function stop(directory: string): Promise<number> {
  const state = await readState(directory)
  if (state === undefined) return say('NGINX is not running; there is nothing to stop.')
  const drained = await stopBackground(state, directory)
  const how = drained
    ? 'every request in flight got its response'
    : 'what was still in flight after 10 s was cut off'
  return say(`Stopped NGINX on ${formatAddress(state.front.listen)}; ${how}.`)
}

async function requireState(directory: string): Promise<State> {
  const state = await readState(directory)
  if (state === undefined) throw new Error('NGINX is not running; start it with pnpm nginx start.')
  return state
}

function readFront(values: Values): Front {
  const topology = TOPOLOGIES.find((name) => name === values.topology)
  if (topology === undefined) throw new UsageError(`--topology must be one of ${TOPOLOGIES.join(', ')}.`)
  try {
    const listen = parseAddress(values.listen)
    const [first = '127.0.0.1:3000', ...others] = values.upstream ?? []
    const upstream = parseUpstream(first)
    const copies = others.length === 0 ? {} : { copies: others.map(parseUpstream) }
    const more = { ...copies, ...readAssets(values.assets), ...readCertificate(values) }
    const front = { name: 'app', topology: topology as Topology, listen, upstream, ...more }
    checkFronts([front])
    return front
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function readCertificate({ topology, certificate, key }: Values): Pick<Front, 'certificate'> {
  if (certificate === undefined && key === undefined) return {}
  if (topology !== 'nginx-tls') throw new Error('Only nginx-tls has a certificate: add --topology nginx-tls.')
  if (certificate === undefined || key === undefined)
    throw new Error('A certificate needs its key: give both, --certificate FILE and --key FILE.')
  return { certificate: { certificate: fromCaller(certificate), key: fromCaller(key) } }
}

/** The lines of a `geo` block. */
function readTrusted(list: string): string {
  const networks = list.split(',').filter((network) => network !== '')
  for (const network of networks) {
    const [address = '', prefix = '0', ...more] = network.split('/')
    if (isIP(address) === 0 || more.length > 0 || !(Number(prefix) <= (isIP(address) === 4 ? 32 : 128)))
      throw new UsageError(
        `--trust has ${JSON.stringify(network)}; write addresses or networks, such as 10.0.0.0/8.`,
      )
  }
  return networks.map((network) => `${network} 1;`).join(' ')
}

/** pnpm runs scripts in the package's directory; INIT_CWD is where the person is. */
function fromCaller(path: string): string {
  return resolve(process.env.INIT_CWD ?? '.', path)
}

function readAssets(directory: string | undefined): { serveAssets?: string } {
  if (directory === undefined) return {}
  const path = fromCaller(directory)
  if (!existsSync(path))
    throw new Error(`--assets ${directory} does not exist; build it first with pnpm build.`)
  return { serveAssets: path }
}

function readCount(text: string): number {
  const count = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (count < 1 || count > 256) {
    throw new UsageError(`${JSON.stringify(text)} is not a number of workers; give 1 to 256.`)
  }
  return count
}

function summary({ front, description, workers: count }: State): string {
  const { topology, listen } = front
  const route = `${topology === 'nginx-tls' ? 'https' : 'http'}://${formatAddress(listen)} to ${formatAll(upstreamsOf(front))}`
  return `${description}: ${route}, topology ${topology}, ${plural(count, 'worker')}.`
}

function formatAll(upstreams: readonly Upstream[]): string {
  return upstreams.map(formatUpstream).join(' and ')
}

function listens(upstream: Upstream): Promise<boolean> {
  const target = 'socketPath' in upstream ? { path: upstream.socketPath } : { ...upstream }
  return new Promise((done) => {
    const socket = connect({ ...target, timeout: 1_000 })
    const settle = (response: boolean) => {
      socket.destroy()
      done(response)
    }
    socket.once('connect', () => settle(true))
    for (const failure of ['error', 'timeout']) socket.once(failure, () => settle(false))
  })
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
