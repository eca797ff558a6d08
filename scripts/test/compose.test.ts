import assert from 'node:assert/strict'
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { checkConformance, formatReport } from '@startgrid/conformance/runner.ts'
import { APPS, type App, FRAMEWORKS } from '@startgrid/grid/apps.ts'
import { COMPOSE_TOPOLOGIES, publishedPort, serviceName } from '@startgrid/grid/compose.ts'
import { CATALOGUE } from '@startgrid/grid/frameworks.ts'
import { NEVER_SHED } from '@startgrid/grid/launcher.ts'
import { runLoad } from '@startgrid/loadgen/load.ts'
import { claimPort } from '@startgrid/nginx/address.ts'

/** docker-compose.yml as a new user has it, with every framework: built, brought up, proven, disturbed, taken down. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PROJECT = `startgrid-test-${process.pid}`

const hasDocker = spawnSync('docker', ['compose', 'ls']).status === 0
const skip = hasDocker ? false : 'No Docker engine with Compose responds: install docker-compose-plugin.'

/** It comes up first, without the others. */
const ALONE = 'fastify'
const BESIDE = 'koa'

describe('full: Docker Compose', { skip, timeout: 3_600_000 }, () => {
  let services: Service[] = []

  before(
    async () => {
      const { prefix, page } = await findFreePorts()
      Object.assign(process.env, {
        COMPOSE_PROJECT_NAME: PROJECT,
        COMPOSE_FILE: ['docker-compose.yml', writePatience()].join(delimiter),
        COMPOSE_PROFILES: FRAMEWORKS.join(','),
        STARTGRID_PORTS: String(prefix),
        STARTGRID_PAGE_PORT: String(page),
        STARTGRID_TLS_PORT: String(page + 1),
      })
      await compose(['--profile', '*', 'build', '--quiet'], 40 * 60_000)
    },
    { timeout: 41 * 60_000 },
  )
  after(async () => {
    await compose(['down', '--volumes', '--timeout', '3'], 120_000)
    rmSync(join(tmpdir(), `${PROJECT}.json`), { force: true })
  })

  test('one framework comes up alone, with the NGINX in front, which says what is absent', async () => {
    await compose(['--profile', ALONE, 'up', '--wait', '--no-build'], 180_000)
    services = await listServices()
    const expected = APPS.filter(({ framework }) => framework === ALONE).map(serviceName)
    assert.deepEqual(services.map(({ Service }) => Service).sort(), [...expected, 'nginx'].sort())
    assert.equal((await ask(portOf(`${ALONE}-ssr`, 'nginx'), '/')).status, 200)
    assert.equal((await ask(portOf(`${BESIDE}-ssr`, 'nginx'), '/')).status, 502)
    const { body } = await ask(Number(process.env.STARTGRID_PAGE_PORT), `/grid/${BESIDE}-ssr/direct/readyz`)
    assert.equal(body, '{"status":"absent"}')
  })

  test('the rest comes up beside it: every app is healthy, and the NGINX in front', async () => {
    await compose(['up', '--wait', '--no-build'], 300_000)
    services = await listServices()
    assert.deepEqual(
      services.map(({ Service }) => Service).sort(),
      [...APPS.map(serviceName), 'nginx'].sort(),
    )
    for (const { Service, Health } of services) assert.equal(Health, 'healthy', Service)
  })

  for (const app of APPS)
    for (const topology of COMPOSE_TOPOLOGIES)
      test(`${app.name} keeps the contract in its container, ${topology}`, async () => {
        const target = { host: '127.0.0.1', port: portOf(serviceName(app), topology) }
        const compressed = topology === 'nginx'
        const { role, absent } = app
        const report = await checkConformance({ target, role, absent, compressed })
        assert.equal(report.differences.length, 0, `\n${formatReport(report)}`)
      })

  test('nothing is published beyond loopback', async () => {
    const ports = services.flatMap(({ Publishers }) => Publishers).filter((one) => one.PublishedPort > 0)
    // The NGINX in front has a port for each app, started or not, and two for the page.
    assert.equal(ports.length, 2 * APPS.length + 2)
    assert.deepEqual([...new Set(ports.map(({ URL }) => URL))], ['127.0.0.1'])
    for (const address of foreignAddresses())
      assert.equal(await accepts(address, ports[0]?.PublishedPort ?? 0), false)
  })

  test('the landing page over TLS and HTTP/2', async () => {
    const session = connectHttp2(`https://localhost:${process.env.STARTGRID_TLS_PORT}`, {
      rejectUnauthorized: false,
    })
    try {
      const [headers] = await once(session.request({ ':path': '/' }).resume(), 'response')
      assert.equal(headers[':status'], 200)
      const certificate = (session.socket as TLSSocket).getPeerX509Certificate()
      assert.equal(
        certificate?.subjectAltName,
        'DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1',
      )
      assert.equal(certificate?.ca, false)
    } finally {
      session.destroy()
    }
  })

  test('the landing page asks every app through its own origin', async () => {
    const page = Number(process.env.STARTGRID_PAGE_PORT)
    const document = await ask(page, '/')
    assert.match(document.type, /^text\/html/)
    for (const app of APPS) {
      for (const topology of COMPOSE_TOPOLOGIES) {
        assert.ok(
          document.body.includes(`:${portOf(serviceName(app), topology)}/`),
          `${app.name} ${topology}`,
        )
        const response = await ask(page, `/grid/${serviceName(app)}/${topology}/readyz`)
        assert.equal(response.body, '{"status":"pass"}', `${app.name} ${topology}`)
      }
    }
  })

  test('the benchmark races services by URL, and an app directly against itself behind NGINX', async () => {
    const inside = publishedPort({ framework: ALONE, role: 'hello' }, 'nginx')
    for (const other of [`${BESIDE}-hello:3000`, `nginx:${inside}`]) {
      const urls = [`http://${ALONE}-hello:3000/`, `http://${other}/`]
      const options = ['--heats', '2', '--output', '/tmp/race']
      const report = await compose(['run', '--rm', '--no-TTY', 'bench', 'race', ...urls, ...options], 300_000)
      for (const url of urls) assert.ok(report.includes(new URL(url).host), report)
    }
  })

  test('containers have no rights that they do not need', () => {
    const host = ['ReadonlyRootfs', 'CapDrop', 'SecurityOpt', 'RestartPolicy.Name', 'Memory']
    const format = [...host.map((name) => `{{json .HostConfig.${name}}}`), '{{.Config.User}}'].join(' ')
    const least = /^true \["ALL"\] \["no-new-privileges:true"\] "unless-stopped" [1-9]\d* (?:node|bun|nginx)$/
    for (const { Service: name, ID } of services) assert.match(inspect(ID, format), least, name)
  })

  test('a service that is started again under load loses no request that it took, and no other notices', async () => {
    const durationMs = 12_000
    const restarted = offer(portOf(`${ALONE}-hello`, 'nginx'), durationMs)
    const other = offer(portOf(`${BESIDE}-hello`, 'nginx'), durationMs)
    await sleep(2_000)
    await compose(['restart', `${ALONE}-hello`], 60_000)
    const [during, undisturbed] = await Promise.all([restarted, other])
    // While nobody has the address, the NGINX in front says so: 502, or 504 after the 2 s in which it was not even refused. It drops nothing.
    const { '200': right = 0, '502': refused = 0, '504': silent = 0, ...otherStatuses } = during.statuses
    assert.deepEqual(otherStatuses, {})
    assert.ok(right > 0)
    assert.deepEqual({ ...during.errors, status: 0 }, NO_ERRORS)
    assert.equal(during.errors.status, refused + silent)
    assert.deepEqual(undisturbed.errors, NO_ERRORS)
    assert.deepEqual(Object.keys(undisturbed.statuses), ['200'])
    assert.equal(await eventually(portOf(`${ALONE}-hello`, 'nginx')), 200)
  })

  for (const framework of CATALOGUE.filter(({ runtime }) => runtime !== 'nginx').map(({ name }) => name)) {
    test(`${framework} ends by itself when told to, and responds to what it has`, async () => {
      const service = `${framework}-ssr`
      const url = `http://127.0.0.1:${portOf(service, 'direct')}/stream?items=10&delay=3000`
      // The first part of each page is here, so no request still waits to be accepted.
      const responses = await Promise.all([1, 2, 3, 4].map(() => fetch(url)))
      const pages = Promise.all(responses.map((response) => response.text()))
      // Docker kills a container that does not end: its exit code is 137.
      await compose(['stop', '--timeout', '30', service])
      for (const page of await pages) assert.match(page, /<\/html>\s*$/)
      assert.deepEqual(new Set(responses.map(({ status }) => status)), new Set([200]))
      assert.equal(exitCodeOf(service), 0)
    })
  }

  const inNginx = CATALOGUE.find(({ runtime }) => runtime === 'nginx')?.name
  if (inNginx !== undefined)
    test('NGINX with an app ends by itself when told to, after its last response', async () => {
      // It has no slow route, but one core: most of these wait for their turn when the signal comes. Their connections are accepted
      // already: NGINX closes those that are not together with its socket.
      const askAll = (path: string) =>
        Promise.all(Array.from({ length: 4 }, () => ask(portOf(`${inNginx}-ssr`, 'direct'), path)))
      await askAll('/livez')
      const responses = askAll('/?items=1000')
      await sleep(100)
      const [pages] = await Promise.all([responses, compose(['stop', '--timeout', '30', `${inNginx}-ssr`])])
      for (const { status, body } of pages) {
        assert.equal(status, 200)
        assert.match(body, /<\/html>\s*$/)
      }
      assert.equal(exitCodeOf(`${inNginx}-ssr`), 0)
    })

  test('down leaves nothing behind', async () => {
    await compose(['down', '--volumes', '--timeout', '3'], 120_000)
    const label = `label=com.docker.compose.project=${PROJECT}`
    for (const kind of ['container', 'network', 'volume'])
      assert.equal(
        docker(kind, 'ls', '--quiet', '--filter', label, ...(kind === 'container' ? ['--all'] : [])),
        '',
      )
  })

  function portOf(service: string, topology: 'direct' | 'nginx'): number {
    const app = APPS.find((one) => serviceName(one) === service)
    assert.ok(app)
    return publishedPort(app, topology, Number(process.env.STARTGRID_PORTS))
  }

  function exitCodeOf(service: string): number {
    return Number(inspect(docker('compose', 'ps', '--all', '--quiet', service).trim(), '{{.State.ExitCode}}'))
  }
})

/** A Compose file with which apps do not shed load: on a busy machine they would refuse requests of the contract's suite. */
function writePatience(): string {
  const file = join(tmpdir(), `${PROJECT}.json`)
  const settings = Object.fromEntries(APPS.map((app) => [serviceName(app), patient(app)]))
  writeFileSync(file, JSON.stringify({ services: settings }))
  return file
}

/** NGINX cannot read its environment, so its image has a second configuration. */
function patient({ runtime, role }: App): object {
  if (runtime !== 'nginx') return { environment: NEVER_SHED }
  return { command: ['nginx', '-e', 'stderr', '-c', `/etc/nginx/${role}-quiet.conf`] }
}

const NO_ERRORS = { connect: 0, reset: 0, timeout: 0, status: 0, body: 0, parse: 0 }

/** A light open loop: 50 requests a second, whether or not earlier ones got their response. */
function offer(port: number, durationMs: number, path = '/') {
  return runLoad({ target: { host: '127.0.0.1', port }, path, connections: 4, rate: 50, durationMs })
}

/** The status once it is 200: a started server is found within a second, and a moment later it is ready. */
async function eventually(port: number): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const { status } = await ask(port, '/')
    if (status === 200) return status
    await sleep(200)
  }
  return 0
}

/** A prefix with which all ports of the apps are free, and one more for the page. Below 32,768, where Linux begins to give ports to clients: one of them would take a port between the look and the start. */
async function findFreePorts(): Promise<{ prefix: number; page: number }> {
  for (let prefix = 10 + (process.pid % 11); prefix < 32; prefix += 1) {
    const ports = APPS.flatMap((app) =>
      COMPOSE_TOPOLOGIES.map((topology) => publishedPort(app, topology, prefix)),
    )
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return { prefix, page: prefix * 1000 }
  }
  throw new Error('No hundred ports in a row are free.')
}

function isFree(port: number): Promise<boolean> {
  return claimPort({ host: '127.0.0.1', port }).then(Boolean, () => false)
}

function foreignAddresses(): string[] {
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? [])
  return addresses
    .filter(({ internal, family }) => !internal && family === 'IPv4')
    .map(({ address }) => address)
}

function accepts(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port })
  return new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
  }).finally(() => socket.destroy())
}

async function ask(port: number, path: string) {
  const response = await fetch(`http://localhost:${port}${path}`)
  const { status, headers } = response
  return { status, type: headers.get('content-type') ?? '', body: await response.text() }
}

function inspect(id: string, format: string): string {
  return docker('container', 'inspect', '--format', format, id).trim()
}

function docker(...args: string[]): string {
  return execFileSync('docker', args, { cwd: ROOT, encoding: 'utf8' })
}

/** `docker compose`, while this process goes on. @param timeout milliseconds until it is killed */
async function compose(args: readonly string[], timeout = 60_000): Promise<string> {
  const options = { cwd: ROOT, timeout, maxBuffer: 1e8 }
  return (await promisify(execFile)('docker', ['compose', ...args], options)).stdout
}

/** A line of `docker compose ps`. */
interface Service {
  Service: string
  ID: string
  Health: string
  Publishers: { URL: string; PublishedPort: number }[]
}

async function listServices(): Promise<Service[]> {
  const lines = await compose(['ps', '--all', '--format', 'json'])
  return JSON.parse(`[${lines.trim().replaceAll('\n', ',')}]`)
}
