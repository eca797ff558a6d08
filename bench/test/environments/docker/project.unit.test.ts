import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type App, findApps } from '@startgrid/grid/apps.ts'
import { type ComposeFile, composeHeat, renderFronts } from '../../../src/environments/docker/project.ts'
import { hostOf } from '../../../src/environments/environment.ts'

/** As `docker compose config --format json` prints services. */
const FILE: ComposeFile = {
  services: {
    'node-hello': {
      image: 'startgrid/node',
      build: { context: '/repository' },
      profiles: ['node'],
      command: ['node', 'src/server.ts', 'hello'],
      environment: { LOG_LEVEL: 'info', TRUST_PROXY: '10.0.0.0/8' },
      ports: [{ host_ip: '127.0.0.1', target: 3000, published: '4111' }],
      mem_limit: '268435456',
      read_only: true,
      restart: 'on-failure',
    },
    'njs-hello': {
      image: 'startgrid/njs',
      command: ['nginx', '-e', 'stderr', '-c', '/etc/nginx/hello.conf'],
    },
    nginx: {
      image: 'startgrid/nginx',
      hostname: 'startgrid-4',
      ports: [{ target: 8080 }],
      volumes: [{ type: 'bind', source: '/repository/bench/results', target: '/srv/results' }],
      tmpfs: ['/tmp'],
    },
  },
}

function app(name: string, launched = name): App {
  const [found] = findApps(name)
  if (found === undefined) throw new Error(`There is no ${name}.`)
  return { ...found, name: launched }
}

const NODE = app('node/hello')
const TWIN = app('node/hello', 'node/hello#2')
const NJS = app('njs/hello')
const labels = { 'startgrid.bench': '1' }

describe('the project of a heat', () => {
  const compose = (apps: App[], more: { nginxConfig?: string; cpu?: number } = {}) =>
    composeHeat(FILE, {
      apps,
      network: 'n',
      labels,
      nginxConfig: undefined,
      cpu: undefined,
      ...more,
    })

  test('has the services of the grid with their limits, and nothing that is published or started again', () => {
    const { services } = compose([NODE])
    assert.deepEqual(services, {
      'node-hello': {
        image: 'startgrid/node',
        command: ['node', 'src/server.ts', 'hello'],
        environment: { LOG_LEVEL: 'warn', MAX_QUEUE_WAIT_MS: '60000', TRUST_PROXY: '10.0.0.0/8' },
        mem_limit: '268435456',
        read_only: true,
        labels,
        pull_policy: 'never',
        restart: 'no',
        healthcheck: { interval: '1h', start_interval: '500ms' },
      },
    })
  })

  test('has a twin as a service of its own that differs in nothing', () => {
    const { services } = compose([NODE, TWIN])
    assert.deepEqual(Object.keys(services), ['node-hello', 'node-hello-2'])
    assert.deepEqual(services['node-hello-2'], services['node-hello'])
  })

  test('keeps apps and NGINX on the core of the servers', () => {
    const { services } = compose([NODE], { nginxConfig: '/x/heat.conf', cpu: 3 })
    assert.deepEqual([services['node-hello']?.cpuset, services.nginx?.cpuset], ['3', '3'])
  })

  test('has an NGINX with the configuration of this heat and without the reports', () => {
    const { nginx } = compose([NODE], { nginxConfig: '/x/heat.conf' }).services
    const target = '/etc/nginx/heat.conf'
    assert.deepEqual(nginx?.volumes, [{ type: 'bind', source: '/x/heat.conf', target, read_only: true }])
    assert.deepEqual(nginx?.command, ['nginx', '-e', 'stderr', '-c', target])
    assert.deepEqual([nginx?.hostname, nginx?.ports, nginx?.tmpfs], [undefined, undefined, ['/tmp']])
  })

  test('runs njs with the configuration that logs no requests', () => {
    const command = compose([NJS]).services['njs-hello']?.command
    assert.deepEqual(command, ['nginx', '-e', 'stderr', '-c', '/etc/nginx/hello-quiet.conf'])
  })

  test('is in a network that outlives it', () => {
    assert.deepEqual(compose([NODE]).networks, { default: { name: 'n', external: true } })
  })

  test('cannot be made without the service', () => {
    assert.throws(() => compose([app('koa/ssr')]), /docker-compose\.yml has no service koa-ssr\./)
  })
})

test('host names have neither slashes nor hashes', () => {
  assert.deepEqual(
    [NODE, TWIN].map(({ name }) => hostOf(name)),
    ['node-hello', 'node-hello-2'],
  )
})

test('NGINX has a front for each app of the heat, twins included, and one for the ceiling', () => {
  const config = renderFronts([NODE, TWIN])
  const listens = [...config.matchAll(/listen (\S+);/g)].map(([, address]) => address)
  assert.deepEqual(listens, ['0.0.0.0:8080', '0.0.0.0:8081', '0.0.0.0:8082'])
  assert.match(config, /upstream node-hello \{[^}]*server node-hello:3000 resolve [^;]*;/)
  assert.match(config, /upstream node-hello-2 \{[^}]*server node-hello-2:3000 resolve [^;]*;/)
  assert.match(config, /access_log off;/)
  assert.match(config, /include startgrid\/container\.conf;/)
})

test('NGINX serves the files of the page itself, as natively', () => {
  assert.match(renderFronts([app('node/ssr')]), /set \$assets_dir "\/srv\/assets";/)
  assert.doesNotMatch(renderFronts([NODE]), /\/srv\/assets/)
})
