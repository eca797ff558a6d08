import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkConformance, formatReport } from '@startgrid/conformance'
import { APPS, type App } from '@startgrid/grid/apps.ts'
import { claimPort } from '@startgrid/nginx/address.ts'
import { findNginx } from '@startgrid/nginx/find.ts'
import { runEject } from './support/command.ts'
import { temporaryDirectory } from './support/directory.ts'
import { ProjectDirectory } from './support/project.ts'

/** Each option, installed and run, with ssr, which has all that there is to observe. */

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'
const PROBE_TRACE_ID = TRACE_ID.replace('0af', 'fa0')
const PARENT_ID = 'b7ad6b7169203331'

const front = await findNginx({ choice: 'path', download: false })

const apps = APPS.filter((app) => app.runtime !== 'nginx' && app.role === 'ssr')

for (const app of apps) {
  const isObserved = app.runtime === 'node'
  const names = [...(isObserved ? ['telemetry'] : []), 'nginx', 'kubernetes']
  test(`full: ${app.name} with ${names.join(', ')}`, { timeout: 600_000 }, async (t) => {
    using directory = temporaryDirectory()
    const path = join(directory.path, 'my-app')
    const ejected = await runEject([app.name, path, '--with', names.join(',')])
    equal(ejected.code, 0, ejected.stderr)
    await using collector = await startCollector()
    const port = await claimPort({ host: '127.0.0.1', port: 0 })
    const project = new ProjectDirectory(path, 'npm')
    await project.run('install')
    for (const script of ['lint', 'typecheck', 'build', 'test'])
      await t.test(script, () => project.run('run', script))

    const target = { host: '127.0.0.1', port: await claimPort({ host: '127.0.0.1', port: 0 }) }
    const service = start(path, {
      NODE_ENV: 'production',
      LOG_LEVEL: 'warn',
      MAX_QUEUE_WAIT_MS: '0', // no page is refused because the machine is busy
      PORT: String(target.port),
      OTEL_METRICS_EXPORTER: 'otlp,prometheus',
      OTEL_EXPORTER_PROMETHEUS_PORT: String(port),
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      TRUST_PROXY: 'loopback',
    })
    try {
      await responds(target.port, service)
      await t.test('the app conforms', () => conforms(app, target))
      if (isObserved) await t.test('metrics for Prometheus', () => observes(target.port, port))
      const skip = front.kind === 'none' && front.describe()
      await t.test('nginx', { skip }, () => conformsBehindNginx(app, path, target.port, t.signal))
      await send(target.port, '/stream?items=none&secret=1', {
        traceparent: `00-${TRACE_ID}-${PARENT_ID}-01`,
      })
      await send(target.port, '/readyz', { traceparent: `00-${PROBE_TRACE_ID}-${PARENT_ID}-01` })
    } finally {
      service.kill('SIGTERM')
      if (service.exitCode === null) await once(service, 'exit')
    }
    equal(service.exitCode, 0)
    if (isObserved) await t.test('telemetry', () => collector.judge())
  })
}

test('an app that cannot have an option says why, in one sentence', async () => {
  using directory = temporaryDirectory()
  const refused = [
    ['bun/hello', 'telemetry', /choose an app on Node/],
    ['njs/hello', 'telemetry', /choose an app on Node/],
    ['njs/hello', 'nginx', /inside NGINX already/],
  ] as const
  for (const [name, option, reason] of refused) {
    const { code, stderr } = await runEject([name, join(directory.path, 'my-app'), '--with', option])
    deepEqual([code === 0, stderr.trim().split('\n').length], [false, 1], `${name} ${option}`)
    match(stderr, reason)
  }
})

async function conforms(
  { role, absent }: App,
  target: { host: string; port: number; ca?: string },
  isBehind = false,
) {
  const report = await checkConformance({ target, role, absent, compressed: isBehind })
  deepEqual(report.differences, [], formatReport(report))
}

/** Sends a request, and reads the whole response. */
async function send(port: number, target: string, headers: Record<string, string> = {}): Promise<string> {
  return (await fetch(`http://127.0.0.1:${port}${target}`, { headers })).text()
}

/** What `npm start` runs, without npm, which passes a signal on a second time. */
function start(cwd: string, env: Record<string, string>) {
  const { scripts } = JSON.parse(readFileSync(join(cwd, 'package.json'), 'utf8'))
  const [program = '', ...words] = scripts.start.split(' ')
  const file = program === 'node' ? process.execPath : join(cwd, 'node_modules/.bin', program)
  const child = spawn(file, words, {
    cwd,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  child.stderr.setEncoding('utf8')
  return child
}

async function observes(port: number, metricsPort: number): Promise<void> {
  const shown = await send(metricsPort, '/metrics')
  match(shown, /^http_server_request_duration_count\{.*http_route="\/stream".*\} \d+$/m)
  match(shown, /^nodejs_eventloop_delay_p99\{.*\} [\d.e-]+$/m)
  doesNotMatch(shown, /livez|readyz/)
  doesNotMatch(await send(port, '/metrics'), /nodejs_eventloop/)
}

/** The configuration as it is, but for what a container has: its addresses, its paths, and a name server. */
async function conformsBehindNginx(
  app: App,
  path: string,
  appPort: number,
  signal: AbortSignal,
): Promise<void> {
  using directory = temporaryDirectory()
  const place = directory.path
  const [port, tlsPort] = await Promise.all([0, 0].map((port) => claimPort({ host: '127.0.0.1', port })))
  ok(port !== undefined && tlsPort !== undefined && front.kind !== 'none')
  cpSync(join(path, 'nginx'), place, { recursive: true })
  const written = readFileSync(join(place, 'nginx.conf'), 'utf8')
  const hasDirective = front.http2 === 'directive'
  const config = written
    .replaceAll('/tmp/', `${place}/`)
    .replace(/server app:3000 resolve .*/, `server 127.0.0.1:${appPort};`)
    .replace(/^ *resolver.*\n/gm, '')
    .replace(/^ *keepalive_min_timeout.*\n/m, '')
    .replace('listen 8080', `listen 127.0.0.1:${port}`)
    .replace('listen 8443 ssl', `listen 127.0.0.1:${tlsPort} ssl${hasDirective ? '' : ' http2'}`)
    .replace(/^ *http2 on;\n/m, (line) => (hasDirective ? line : ''))
    .replace('access_log /dev/stdout', `access_log ${place}/access.log`)
  writeFileSync(join(place, 'nginx.conf'), `daemon off;\n${asRoot()}${config}`)
  const start = join(place, 'start.sh')
  writeFileSync(start, readFileSync(start, 'utf8').replaceAll(/\/tmp\/|\/etc\/nginx\//g, `${place}/`))
  const command = [start, front.binary.path, '-p', place, '-e', 'stderr', '-c', join(place, 'nginx.conf')]
  const nginx = spawn('sh', command, { stdio: 'ignore' })
  try {
    await responds(port, nginx)
    const ca = readFileSync(join(place, 'edge/fullchain.pem'), 'utf8')
    equal(new X509Certificate(ca).ca, false, 'who trusts it would trust whatever its key signs')
    await conforms(app, { host: '127.0.0.1', port: tlsPort, ca }, true)
    const lines = readFileSync(join(place, 'access.log'), 'utf8').trim().split('\n')
    const paths = lines.map((line) => String(JSON.parse(line).path))
    ok(paths.length > 100 && paths.every((one) => !one.includes('?')))

    const hsts = join(place, 'http/hsts.conf')
    writeFileSync(hsts, readFileSync(hsts, 'utf8').replace('# on', "''")) // the empty value of $https, because this test has no TLS
    nginx.kill('SIGHUP')
    for (const target of ['/livez', '/', '/stream', '/assets/x', '/no/such', '/%zz']) {
      // An old worker closes its connections, also one that is just used again.
      while ((await readHsts(port, target).catch(ofClosed)) !== 'max-age=31536000')
        await sleep(50, undefined, { signal })
    }
  } finally {
    nginx.kill('SIGQUIT')
    if (nginx.exitCode === null) await once(nginx, 'exit')
  }
}

async function readHsts(port: number, target: string): Promise<string | null> {
  const response = await fetch(`http://127.0.0.1:${port}${target}`)
  await response.arrayBuffer()
  return response.headers.get('strict-transport-security')
}

/** Null if the other side closed the connection. @throws any other error */
function ofClosed(error: Error): null {
  if (/UND_ERR_SOCKET|ECONNRESET/.test(String((error.cause as NodeJS.ErrnoException | undefined)?.code)))
    return null
  throw error
}

/** Workers keep the rights of the user who runs the test. */
function asRoot(): string {
  return process.getuid?.() === 0 ? 'user root;\n' : ''
}

async function responds(port: number, server: ChildProcess): Promise<void> {
  for (let tries = 0; ; tries++) {
    if (await send(port, '/livez').catch(() => undefined)) return
    ok(server.exitCode === null && tries < 600, 'The server does not respond')
    await sleep(50)
  }
}

interface Attribute {
  key: string
  value: { stringValue?: string; intValue?: number }
}

interface Span {
  name: string
  traceId: string
  parentSpanId?: string
  attributes: Attribute[]
}

/** A point of a histogram, or of anything else. */
interface Metric {
  name: string
  histogram?: { dataPoints: { attributes: Attribute[]; count: number }[] }
}

interface Export {
  resourceSpans?: { resource: { attributes: Attribute[] }; scopeSpans: { spans: Span[] }[] }[]
  resourceMetrics?: { scopeMetrics: { metrics: Metric[] }[] }[]
}

/** Receives OTLP as JSON. */
async function startCollector() {
  const spans: Span[] = []
  const metrics: Metric[] = []
  const services = new Set<string | undefined>()
  const server = createServer(async (request, response) => {
    const { resourceSpans = [], resourceMetrics = [] } = (await json(request)) as Export
    for (const { resource, scopeSpans } of resourceSpans) {
      services.add(attributeOf(resource.attributes, 'service.name'))
      spans.push(...scopeSpans.flatMap((scope) => scope.spans))
    }
    for (const { scopeMetrics } of resourceMetrics)
      metrics.push(...scopeMetrics.flatMap((scope) => scope.metrics))
    response.setHeader('content-type', 'application/json').end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    judge() {
      deepEqual([...services], ['my-app'])
      const traced = spans.filter(({ traceId }) => traceId === TRACE_ID)
      const own = traced.find(({ parentSpanId }) => parentSpanId === PARENT_ID)
      equal(own?.name, 'GET /stream')
      equal(attributeOf(own?.attributes, 'http.response.status_code'), '400')
      doesNotMatch(JSON.stringify(traced), /secret=1/)
      deepEqual(
        spans.filter(({ traceId }) => traceId === PROBE_TRACE_ID).map(({ name }) => name),
        [],
      )
      const points = metrics
        .filter(({ name }) => name === 'http.server.request.duration')
        .flatMap(({ histogram }) => histogram?.dataPoints ?? [])
      ok(points.some(({ attributes }) => attributeOf(attributes, 'http.route') === '/stream'))
      ok(metrics.some(({ name }) => name === 'nodejs.eventloop.delay.p99'))
    },
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

function attributeOf(attributes: readonly Attribute[] = [], key: string): string | undefined {
  const value = attributes.find((attribute) => attribute.key === key)?.value
  const found = value?.stringValue ?? value?.intValue
  return found === undefined ? undefined : String(found)
}
