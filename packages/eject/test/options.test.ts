import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startProgram } from '@startgrid/cli/test-programs.ts'
import { checkConformance, formatReport } from '@startgrid/conformance'
import { findApps } from '@startgrid/grid/apps.ts'
import { claimPort } from '@startgrid/nginx/address.ts'
import { findNginx } from '@startgrid/nginx/find.ts'
import { APPS, type App, OPTIONS, type Option, whyNot } from '../src/choices.ts'
import { runEject } from './support/command.ts'
import { temporaryDirectory } from './support/directory.ts'
import { ProjectDirectory } from './support/project.ts'

/** All options at once, installed and run, with ssr, which has all that there is to observe. */

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'
const PROBE_TRACE_ID = TRACE_ID.replace('0af', 'fa0')
const PARENT_ID = 'b7ad6b7169203331'

/** Those that tell their route to the instrumentation of HTTP. */
const TELL_ROUTE = ['express', 'fastify']

const front = await findNginx({ choice: 'path', download: false })

for (const app of APPS.filter(({ role, runtime }) => role === 'ssr' && runtime !== 'nginx')) {
  const options = (Object.keys(OPTIONS) as Option[]).filter((option) => whyNot(app, option) === undefined)
  const isObserved = options.includes('telemetry')
  test(`full: ${app.name} with ${options.join(', ')}`, { timeout: 600_000 }, async (t) => {
    using directory = temporaryDirectory()
    const path = join(directory.path, 'my-app')
    const ejected = await runEject([app.name, path, '--with', options.join(',')])
    equal(ejected.code, 0, ejected.stderr)
    await using collector = await startCollector()
    const metricsPort = await claimPort({ host: '127.0.0.1', port: 0 })
    const project = new ProjectDirectory(path, 'npm')
    await project.run('ci')
    for (const script of ['lint', 'typecheck', 'build', 'test'])
      await t.test(script, () => project.run('run', script))
    const { scripts } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
    const service = await project.start(scripts.start, {
      OTEL_METRICS_EXPORTER: 'otlp,prometheus',
      OTEL_EXPORTER_PROMETHEUS_PORT: String(metricsPort),
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      TRUST_PROXY: 'loopback',
    })
    const { port } = service.target
    try {
      if (isObserved) {
        await t.test('metrics for Prometheus', async () => {
          await send(port, '/')
          const shown = await send(metricsPort, '/metrics')
          match(shown, /^http_server_request_duration_count\{.*\} \d+$/m)
          match(shown, /^nodejs_eventloop_delay_p99\{.*\} [\d.e-]+$/m)
        })
        await send(port, '/stream?items=1&secret=1', { traceparent: `00-${TRACE_ID}-${PARENT_ID}-01` })
        await send(port, '/readyz', { traceparent: `00-${PROBE_TRACE_ID}-${PARENT_ID}-01` })
      }
      const skip = front.kind === 'none' && front.describe()
      await t.test('nginx', { skip }, () => conformsBehindNginx(app, path, port))
    } finally {
      equal(await service.stop(), 0)
    }
    if (isObserved) await t.test('telemetry', () => collector.judge(app))
  })
}

/** Sends a request, and reads the whole response. */
async function send(port: number, target: string, headers: Record<string, string> = {}): Promise<string> {
  return (await fetch(`http://127.0.0.1:${port}${target}`, { headers })).text()
}

/** The configuration as it is, but for what a container has: its addresses, its paths, and a name server. */
async function conformsBehindNginx(app: App, path: string, appPort: number): Promise<void> {
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
  const user = process.getuid?.() === 0 ? 'user root;\n' : '' // of the workers
  writeFileSync(join(place, 'nginx.conf'), `daemon off;\n${user}${config}`)
  const start = join(place, 'start.sh')
  writeFileSync(start, readFileSync(start, 'utf8').replaceAll(/\/tmp\/|\/etc\/nginx\//g, `${place}/`))
  const command = [start, front.binary.path, '-p', place, '-e', 'stderr', '-c', join(place, 'nginx.conf')]
  const nginx = startProgram('sh', command)
  try {
    while (!(await send(port, '/livez').catch(() => ''))) {
      equal(nginx.child.exitCode, null, nginx.stderr())
      await sleep(50)
    }
    const ca = readFileSync(join(place, 'edge/fullchain.pem'), 'utf8')
    equal(new X509Certificate(ca).ca, false, 'who trusts it would trust whatever its key signs')
    const [{ absent = [] } = {}] = findApps(app.name)
    const target = { host: '127.0.0.1', port: tlsPort, ca }
    const report = await checkConformance({ target, role: app.role, absent, compressed: true })
    deepEqual(report.differences, [], formatReport(report))
    const lines = readFileSync(join(place, 'access.log'), 'utf8').trim().split('\n')
    const paths = lines.map((line) => String(JSON.parse(line).path))
    ok(paths.length > 50 && paths.every((one) => !one.includes('?')))
  } finally {
    nginx.child.kill('SIGQUIT')
    await nginx.ended
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

interface Export {
  resourceSpans?: { resource: { attributes: Attribute[] }; scopeSpans: { spans: Span[] }[] }[]
  resourceMetrics?: { scopeMetrics: { metrics: { name: string }[] }[] }[]
}

/** Receives OTLP as JSON. */
async function startCollector() {
  const spans: Span[] = []
  const metrics = new Set<string>()
  const services = new Set<string | undefined>()
  const server = createServer(async (request, response) => {
    const { resourceSpans = [], resourceMetrics = [] } = (await json(request)) as Export
    for (const { resource, scopeSpans } of resourceSpans) {
      services.add(attributeOf(resource.attributes, 'service.name'))
      spans.push(...scopeSpans.flatMap((scope) => scope.spans))
    }
    for (const { scopeMetrics } of resourceMetrics)
      for (const scope of scopeMetrics) for (const { name } of scope.metrics) metrics.add(name)
    response.setHeader('content-type', 'application/json').end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    judge({ framework }: App) {
      deepEqual([...services], ['my-app'])
      const traced = spans.filter(({ traceId }) => traceId === TRACE_ID)
      const own = traced.find(({ parentSpanId }) => parentSpanId === PARENT_ID)
      equal(own?.name, TELL_ROUTE.includes(framework) ? 'GET /stream' : 'GET')
      equal(attributeOf(own?.attributes, 'http.response.status_code'), '200')
      doesNotMatch(JSON.stringify(traced), /secret=1/)
      equal(
        spans.some(({ traceId }) => traceId === PROBE_TRACE_ID),
        false,
      )
      ok(metrics.has('http.server.request.duration') && metrics.has('nodejs.eventloop.delay.p99'))
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
