import { doesNotMatch, equal, match } from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { claimPort } from '@startgrid/nginx/address.ts'
import { serve } from '../../shared/src/testing/app.ts'
import { APPS, type App } from '../src/choices.ts'
import { ProjectDirectory } from './support.ts'

/** Telemetry, installed and run, with ssr, which has all that there is to observe. */

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'
const PROBE_TRACE_ID = TRACE_ID.replace('0af', 'fa0')
const PARENT_ID = 'b7ad6b7169203331'

/** Those that tell their route to the instrumentation of HTTP. */
const TELL_ROUTE = ['express', 'fastify']

for (const app of APPS.filter(({ role, runtime }) => role === 'ssr' && runtime === 'node')) {
  test(`full: ${app.name} with telemetry`, { timeout: 600_000 }, async (t) => {
    using project = new ProjectDirectory()
    await project.eject(app.name, ['telemetry'])
    await using collector = await startCollector()
    const metricsPort = await claimPort({ host: '127.0.0.1', port: 0 })
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

interface Span {
  name: string
  traceId: string
  parentSpanId?: string
}

/** Receives OTLP as JSON. */
async function startCollector() {
  const spans: Span[] = []
  let received = ''
  const server = await serve(async (request, response) => {
    const body = await text(request)
    received += body
    const { resourceSpans = [] }: { resourceSpans?: { scopeSpans: { spans: Span[] }[] }[] } = JSON.parse(body)
    spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)))
    response.setHeader('content-type', 'application/json').end('{}')
  })
  return {
    ...server,
    judge({ framework }: App) {
      const own = spans.find(
        ({ traceId, parentSpanId }) => traceId === TRACE_ID && parentSpanId === PARENT_ID,
      )
      equal(own?.name, TELL_ROUTE.includes(framework) ? 'GET /stream' : 'GET')
      match(received, /"service\.name","value":\{"stringValue":"my-app"\}/)
      match(received, /"http\.server\.request\.duration"/)
      match(received, /"nodejs\.eventloop\.delay\.p99"/)
      doesNotMatch(received, new RegExp(`secret=1|${PROBE_TRACE_ID}`))
    },
  }
}
