import { findFramework } from '@startgrid/grid/apps.ts'
import type { Option } from './option.ts'

const TEMPLATE = 'packages/eject/src/options/templates/telemetry.ts.template'

export const telemetry: Option = {
  name: 'telemetry',
  title: 'Traces and metrics by OpenTelemetry',
  describe({ runtime, framework }, read) {
    if (runtime === 'bun')
      return 'The instrumentations of OpenTelemetry observe the HTTP server of Node, and Bun.serve is another one: choose an app on Node.'
    if (runtime === 'nginx')
      return 'The handlers run inside NGINX, where no package of OpenTelemetry can: use its own module, ngx_otel_module, or choose an app on Node.'
    const own = findFramework(framework).instrumentation
    const [imports = '', code = ''] = own
      ? read(`apps/${framework}/fixtures/telemetry.ts.template`).split('\n\n')
      : []
    return {
      files: {
        'src/telemetry.ts': read(TEMPLATE)
          .replace('{{import}}', own ? `${imports}\n` : '')
          .replace('{{instrumentation}}', code),
      },
      dependencies: [
        '@opentelemetry/api',
        '@opentelemetry/core',
        '@opentelemetry/instrumentation-http',
        '@opentelemetry/instrumentation-runtime-node',
        '@opentelemetry/instrumentation-undici',
        '@opentelemetry/sdk-node',
        ...(own ? [own] : []),
      ],
      arguments: ['--import', './src/telemetry.ts'],
      environment: [
        {
          name: 'OTEL_EXPORTER_OTLP_ENDPOINT',
          default: 'http://localhost:4318',
          meaning: 'the collector of OpenTelemetry that gets traces and metrics',
        },
        {
          name: 'OTEL_METRICS_EXPORTER',
          default: 'otlp',
          meaning: '`prometheus`: metrics are at `http://127.0.0.1:9464/metrics` instead',
        },
        {
          name: 'OTEL_EXPORTER_PROMETHEUS_HOST',
          default: '127.0.0.1',
          meaning: 'address of that port; `0.0.0.0` in a container',
        },
        { name: 'OTEL_SERVICE_NAME', default: '', meaning: 'its name in traces; the npm name if not set' },
        {
          name: 'OTEL_TRACES_SAMPLER',
          default: 'parentbased_always_on',
          meaning: 'which requests are traced',
        },
      ],
      readme: `\`src/telemetry.ts\` sends traces and metrics to a collector by OTLP. Each request is a span with its route, each \`fetch\` a span below it.
\`http.server.request.duration\` has method, route and status. The access log has the same \`trace_id\`. Probes have no spans. For databases
and queues, add [their instrumentations](https://opentelemetry.io/ecosystem/registry/?language=js). With \`OTEL_LOG_LEVEL=error\` it says
when the collector cannot be reached. For Prometheus alone, without a collector, set \`OTEL_METRICS_EXPORTER=prometheus OTEL_TRACES_EXPORTER=none\`, and let only Prometheus
reach port 9464.`,
    }
  },
}
