import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { readLaunchConfig } from '../../src/launch/config.ts'

test('has a default for everything', () => {
  deepEqual(readLaunchConfig({}), {
    host: '127.0.0.1',
    port: 3000,
    socket: undefined,
    logLevel: 'info',
    trustProxy: false,
    shutdownDelayMs: 0,
    shutdownTimeoutMs: 9_000,
    maxQueueWaitMs: 250,
    handlerTimeoutMs: 20_000,
    cluster: 'single',
    workers: 1,
  })
})

test('reads every variable', () => {
  const { trustProxy, ...config } = readLaunchConfig({
    HOST: '::1',
    PORT: '0',
    SOCKET: '/run/app.sock',
    LOG_LEVEL: 'silent',
    TRUST_PROXY: '10.0.0.0/8',
    SHUTDOWN_DELAY_MS: '600000',
    SHUTDOWN_TIMEOUT_MS: '0',
    MAX_QUEUE_WAIT_MS: '0',
    HANDLER_TIMEOUT_MS: '100',
    CLUSTER: 'cluster',
    WORKERS: '1024',
  })
  deepEqual(config, {
    host: '::1',
    port: 0,
    socket: '/run/app.sock',
    logLevel: 'silent',
    shutdownDelayMs: 600_000,
    shutdownTimeoutMs: 0,
    maxQueueWaitMs: 0,
    handlerTimeoutMs: 100,
    cluster: 'cluster',
    workers: 1024,
  })
  equal(trustProxy !== false && trustProxy('10.1.2.3', 0), true)
})

test('accepts addresses and names of hosts', () => {
  for (const host of ['0.0.0.0', '::', 'localhost', 'app-1.internal.example', 'x'.repeat(253)])
    equal(readLaunchConfig({ HOST: host }).host, host)
})

const INTEGERS = {
  PORT: 65_535,
  SHUTDOWN_DELAY_MS: 600_000,
  SHUTDOWN_TIMEOUT_MS: 600_000,
  MAX_QUEUE_WAIT_MS: 60_000,
}
const PROXIES =
  'empty, or loopback, linklocal, uniquelocal, addresses or CIDRs (10.0.0.0/8) separated by commas'
const LEVELS = 'one of fatal, error, warn, info, debug, trace, silent'
const HOSTS = 'an IP address or a host name, such as 127.0.0.1 or 0.0.0.0'
const PATH_BYTES = process.platform === 'linux' ? 107 : 103

const REFUSED: [name: string, allowed: string, values: string[]][] = [
  ['HOST', HOSTS, ['', ' ', 'two words', '-x', 'x-', 'http://x', '[::1]', '127.0.0.1:80', 'x'.repeat(254)]],
  ...Object.entries(INTEGERS).map(([name, max]): [string, string, string[]] => [
    name,
    `a whole number from 0 to ${max}`,
    ['', ' ', '-1', '+1', '1.5', '1e3', '0x50', '3000 ', 'x', String(max + 1), '9999999'],
  ]),
  [
    'SOCKET',
    `the path of a unix socket, 1 to ${PATH_BYTES} bytes long`,
    ['', `/${'x'.repeat(PATH_BYTES)}`, `/${'é'.repeat(PATH_BYTES / 2)}x`],
  ],
  ['CLUSTER', 'one of single, cluster, reuse-port', ['', 'true', 'reusePort', 'Cluster']],
  ['LOG_LEVEL', LEVELS, ['', 'INFO', 'verbose', '30', 'constructor']],
  [
    'TRUST_PROXY',
    PROXIES,
    [
      '1',
      'true',
      'proxy.example',
      '10.0.0.0/33',
      '::1/129',
      '10.0.0.0/',
      '10.0.0.0/8/8',
      '10.0.0.0/-1',
      '10.0.0',
      '0.0.0.0/0',
      '10.0.0.0/255.0.0.0',
      ',',
    ],
  ],
]

for (const [name, allowed, values] of REFUSED) {
  test(`says what is wrong with ${name} and what would be right`, () => {
    for (const value of values) {
      throws(() => readLaunchConfig({ [name]: value }), {
        name: 'StartError',
        message: `${name} is ${JSON.stringify(value)}, but must be ${allowed}.`,
      })
    }
  })
}

test('a socket path may be as long as the system allows', () => {
  const path = `/${'x'.repeat(PATH_BYTES - 1)}`
  equal(readLaunchConfig({ SOCKET: path }).socket, path)
})

test('trusts the addresses that it was told, in every notation', () => {
  const cases: [trusted: string, peer: string | undefined, expected: boolean][] = [
    ['loopback', '127.0.0.1', true],
    ['loopback', '127.9.9.9', true],
    ['loopback', '::1', true],
    ['loopback', '::ffff:127.0.0.1', true],
    ['loopback', '::2', false],
    ['loopback', '10.0.0.1', false],
    ['10.0.0.1', '10.0.0.1', true],
    ['10.0.0.1', '10.0.0.2', false],
    ['10.0.0.0/8', '10.255.255.255', true],
    ['10.0.0.0/8', '11.0.0.0', false],
    ['10.0.0.0/8', '::ffff:10.0.0.1', true],
    ['::ffff:10.0.0.1', '10.0.0.1', true],
    ['::ffff:10.0.0.0/104', '::ffff:10.9.9.9', true],
    ['linklocal', '169.254.1.1', true],
    ['uniquelocal', 'fd00::1', true],
    ['uniquelocal', '2001:db8::1', false],
    ['2001:db8::/32', '2001:db8:1::1', true],
    ['2001:db8::/32', '2001:db9::1', false],
    ['fe80::/10', 'fe80::1%eth0', true],
    ['loopback, 10.0.0.0/8', '10.0.0.1', true],
    ['loopback, 10.0.0.0/8', '127.0.0.1', true],
    ['loopback', 'unknown', false],
    ['loopback', '', false],
    ['loopback', undefined, false],
  ]
  for (const [trusted, peer, expected] of cases) {
    const { trustProxy } = readLaunchConfig({ TRUST_PROXY: trusted })
    equal(trustProxy !== false && trustProxy(peer, 0), expected, `${trusted} ${peer}`)
  }
})

test('on a socket, every client is trusted if any is', () => {
  const { trustProxy } = readLaunchConfig({ SOCKET: '/run/app.sock', TRUST_PROXY: 'loopback' })
  equal(trustProxy !== false && trustProxy(undefined, 0), true)
  equal(trustProxy !== false && trustProxy('203.0.113.7', 1), false)
  equal(readLaunchConfig({ SOCKET: '/run/app.sock' }).trustProxy, false)
})
