import type { Option } from './option.ts'

const TEMPLATE = 'packages/eject/src/options/templates/metrics.ts.template'

export const metrics: Option = {
  name: 'metrics',
  title: 'Metrics for Prometheus',
  describe({ runtime }, read) {
    if (runtime === 'bun')
      return 'Prometheus metrics of this kind need the event loop figures of Node, which Bun does not have: choose an app on Node.'
    if (runtime === 'nginx')
      return 'The handlers run inside NGINX, which has no place for counters: use nginx-prometheus-exporter, or choose an app on Node.'
    return {
      files: { 'src/metrics.ts': read(TEMPLATE) },
      dependencies: ['prom-client'],
      arguments: ['--import', './src/metrics.ts'],
      environment: [
        { name: 'METRICS_PORT', default: '9464', meaning: 'port of `GET /metrics`; 0 picks a free one' },
        { name: 'METRICS_HOST', default: '127.0.0.1', meaning: 'address of that port' },
      ],
      readme: `\`GET http://127.0.0.1:9464/metrics\` has the duration of requests by method, route and status, requests in flight, refused requests, event loop
delay, memory and CPU. The port is not the one of the app, so that no client can read it. In a container, set \`METRICS_HOST=0.0.0.0\`, and let
only Prometheus reach the port.`,
    }
  },
}
