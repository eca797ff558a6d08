import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { test } from 'node:test'
import { claimPort } from '@startgrid/nginx/address.ts'
import { APPS, type App } from '../src/choices.ts'
import { runEject } from './support/command.ts'
import { temporaryDirectory } from './support/directory.ts'
import { ProjectDirectory } from './support/project.ts'

/** Telemetry, installed and run, with ssr, which has all that there is to observe. */

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'
const PROBE_TRACE_ID = TRACE_ID.replace('0af', 'fa0')
const PARENT_ID = 'b7ad6b7169203331'

/** Those that tell their route to the instrumentation of HTTP. */
const TELL_ROUTE = ['express', 'fastify']

for (const app of APPS.filter(({ role, runtime }) => role === 'ssr' && runtime === 'node')) {
  test(`full: ${app.name} with telemetry`, { timeout: 600_000 }, async (t) => {
    using directory = temporaryDirectory()
    const path = join(directory.path, 'my-app')
    const ejected = await runEject([app.name, path, '--with', 'telemetry'])
    equal(ejected.code, 0, ejected.stderr)
    await using collector = await startCollector()
    const metricsPort = await claimPort({ host: '127.0.0.1', port: 0 })
    const project = new ProjectDirectory(path, 'npm')
    await project.run('ci')
    for (const script of ['lint', 'typecheck', 'build'])
      await t.test(script, () => project.run('run', script))
    const service = await project.start('start', {
      OTEL_METRICS_EXPORTER: 'otlp,prometheus',
      OTEL_EXPORTER_PROMETHEUS_PORT: String(metricsPort),
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    })
    const { port } = service.target
    try {
      await send(port, '/stream?items=1&secret=1', { traceparent: `00-${TRACE_ID}-${PARENT_ID}-01` })
      await send(port, '/readyz', { traceparent: `00-${PROBE_TRACE_ID}-${PARENT_ID}-01` })
      const shown = await send(metricsPort, '/metrics')
      match(shown, /^http_server_request_duration_count\{.*\} \d+$/m)
      match(shown, /^nodejs_eventloop_delay_p99\{.*\} [\d.e-]+$/m)
    } finally {
      equal(await service.stop(), 0)
    }
    collector.judge(app)
  })
}

/** Sends a request, and reads the whole response. */
async function send(port: number, target: string, headers: Record<string, string> = {}): Promise<string> {
  return (await fetch(`http://127.0.0.1:${port}${target}`, { headers })).text()
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
