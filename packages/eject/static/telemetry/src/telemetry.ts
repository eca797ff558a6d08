import { subscribe } from 'node:diagnostics_channel'
import { IncomingMessage } from 'node:http'
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Attributes, context, type Span } from '@opentelemetry/api'
import { getRPCMetadata } from '@opentelemetry/core'
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http'
import { RuntimeNodeInstrumentation } from '@opentelemetry/instrumentation-runtime-node'
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici'
import { NodeSDK } from '@opentelemetry/sdk-node'

/**
 * OpenTelemetry: traces and metrics by OTLP. `--import` loads this file before the app. Its own variables configure it, such as
 * OTEL_EXPORTER_OTLP_ENDPOINT: https://opentelemetry.io/docs/languages/sdk-configuration/
 * For Prometheus: OTEL_METRICS_EXPORTER=prometheus, then http://127.0.0.1:9464/metrics (OTEL_EXPORTER_PROMETHEUS_HOST=0.0.0.0 in a container).
 */
process.env.OTEL_SERVICE_NAME ??= '{{name}}'
process.env.OTEL_METRICS_EXPORTER ??= 'otlp'
process.env.OTEL_EXPORTER_PROMETHEUS_HOST ??= '127.0.0.1' // the SDK would listen on all addresses
process.env.OTEL_LOGS_EXPORTER ??= 'none' // the log goes to standard output

const sdk = new NodeSDK({
  // For databases, queues and frameworks: https://opentelemetry.io/ecosystem/registry/?language=js
  instrumentations: [
    new HttpInstrumentation({
      ignoreIncomingRequestHook: isMonitor,
      startIncomingSpanHook: hideQuery,
      requestHook(span, request) {
        nameTrace(span, request)
        tellRoute(request)
      },
    }),
    new UndiciInstrumentation(), // fetch
    new RuntimeNodeInstrumentation(), // event loop, garbage collection, memory
  ],
})
sdk.start()
// The instrumentation acts when this module is required. The app imports it, and that would not be noticed.
createRequire(import.meta.url)('node:http')

/** Sends what is left. A collector that does not respond must not turn a complete stop into a failure. */
export async function stopTelemetry(): Promise<void> {
  const failed = (error: Error) => console.error(`The last telemetry was not sent: ${error.message}`)
  await Promise.race([sdk.shutdown().catch(failed), sleep(2_000, undefined, { ref: false })])
}

/** Orchestrators and Prometheus request these every few seconds. */
function isMonitor({ url = '' }: IncomingMessage): boolean {
  return /^\/(?:livez|readyz|metrics)(?:\?|$)/.test(url)
}

/** A query may contain secrets. */
function hideQuery({ url = '' }: IncomingMessage): Attributes {
  return url.includes('?') ? { 'url.query': 'hidden' } : {}
}

/** Spans and metrics are named by the route. Express has it in the request; frameworks without it have packages in the registry above. */
function tellRoute(request: object & { route?: { path: string } }): void {
  const metadata = getRPCMetadata(context.active())
  if (metadata !== undefined) Object.defineProperty(metadata, 'route', { get: () => request.route?.path })
}

// https://fastify.dev/docs/latest/Reference/Hooks/#diagnostics-channel-hooks
subscribe('tracing:fastify.request.handler:start', (message) => {
  const { request, route } = message as { request: { raw: object }; route: { url: string } }
  Object.assign(request.raw, { route: { path: route.url } })
})

/** A request that belongs to no trace gets the `traceparent` of its own span, so that the log has the same trace id. */
function nameTrace(span: Span, request: object): void {
  if (!(request instanceof IncomingMessage) || 'traceparent' in request.headers) return
  const { traceId, spanId, traceFlags } = span.spanContext()
  const traceparent = `00-${traceId}-${spanId}-0${traceFlags}`
  request.headers.traceparent = traceparent
  request.rawHeaders.push('traceparent', traceparent) // adapters to web standards read these
}
