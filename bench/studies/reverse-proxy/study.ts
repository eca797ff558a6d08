import { readFileSync } from 'node:fs'
import { exactly } from '@startgrid/loadgen/expectation.ts'
import type { Study, System, Workload } from '../../src/result/experiment.ts'
import { claimsOf, claimsOfCost, step } from '../claims.ts'

const NODE = 'bench/studies/reverse-proxy/subjects/node'

/** As in subjects/node: what the two builds of OpenSSL prefer differs. */
const TLS_LINES = `ssl_protocols TLSv1.3;
    ssl_conf_command Ciphersuites TLS_AES_128_GCM_SHA256;
    ssl_ecdh_curve X25519;`

type Way = 'node' | 'naive' | 'nginx'

const FRONTS = { naive: 'bare-naive', nginx: 'bare' } as const
const NAMES: Readonly<Record<Way, string>> = {
  node: 'Node',
  naive: 'naive NGINX, Node',
  nginx: 'NGINX, Node',
}

interface Served {
  role?: 'plain' | 'gzip'
  tls?: System['tls']
  lines?: string
  workload?: Workload
}

/** Node alone, or behind NGINX. */
function system(way: Way, what: string, { role = 'plain', tls, lines, workload }: Served = {}): System {
  const more = [tls === undefined ? undefined : TLS_LINES, lines].filter((one) => one !== undefined).join(' ')
  return {
    title: what === '' ? NAMES[way] : `${what}: ${NAMES[way]}`,
    app: { package: NODE, role },
    ...(way !== 'node' && { nginx: { front: FRONTS[way], lines: more } }),
    ...(tls !== undefined && { tls }),
    ...(workload !== undefined && { workload }),
    warmupMs: 1500,
  }
}

/** One handshake in five milliseconds: the slowest system then uses a third of its core. */
const RATE = 200

/** As many bytes as the file of the source had: 127. */
const PAGE = readFileSync(new URL('subjects/node/page.html', import.meta.url), 'utf8')
const SMALL: Workload = { path: '/small', expect: exactly(PAGE), isProven: true }

/** The header of a gzip file without name and time (RFC 1952): deflate, no flags, four bytes of time. Two builds of zlib make two bodies of it. */
const GZIP = '\b\0\0\0\0\0'

const NEW_CONNECTIONS = { rate: RATE, newConnections: true } as const
const COMPRESSED: Workload = {
  ...SMALL,
  ...NEW_CONNECTIONS,
  headers: { 'accept-encoding': 'gzip' },
  expect: { includes: [GZIP] },
}

/** As the source: a connection for each request, and with TLS a handshake. */
const NEW: Readonly<Record<string, System>> = {
  'new-node': system('node', 'plain'),
  'new-naive': system('naive', 'plain'),
  'new-nginx': system('nginx', 'plain'),
  'rsa-node': system('node', 'RSA', { tls: 'rsa' }),
  'rsa-nginx': system('nginx', 'RSA', { tls: 'rsa' }),
  'ecdsa-node': system('node', 'ECDSA', { tls: 'ecdsa' }),
  'ecdsa-nginx': system('nginx', 'ECDSA', { tls: 'ecdsa' }),
  // NGINX's default level is 1, zlib's is 6.
  'small-gzip-node': system('node', 'gzip', { role: 'gzip', workload: COMPRESSED }),
  'small-gzip-nginx': system('naive', 'gzip', { lines: 'gzip on;', workload: COMPRESSED }),
}

/** On connections that stay open. */
const KEPT: Readonly<Record<string, System>> = {
  'kept-node': system('node', 'plain'),
  'kept-nginx': system('nginx', 'plain'),
  'kept-tls-node': system('node', 'TLS', { tls: 'ecdsa' }),
  'kept-tls-nginx': system('nginx', 'TLS', { tls: 'ecdsa' }),
}

/** What the source starts: one process more than cores would make no sense of it. */
const CLUSTER: Readonly<Record<string, System>> = {
  cluster: {
    title: 'node:cluster, 2 workers',
    app: { package: NODE, role: 'plain', env: { WORKERS: '2' } },
    cores: 2,
  },
  'nginx-cluster': {
    title: 'NGINX and 2 processes',
    app: { package: NODE, role: 'plain', copies: 2 },
    nginx: { front: 'balanced' },
    cores: 3,
  },
}

/** At one rate for all, what a request costs says how many a core could do. */
const claim = claimsOfCost('new connections')

/** See docs/studies/reverse-proxy.md. */
export const reverseProxy: Study = {
  name: 'reverse-proxy',
  title: 'TLS and compression by NGINX instead of Node',
  question: 'Is a Node server faster if NGINX in front does TLS and gzip?',
  source: {
    title: 'nodejs-reverse-proxy-benchmarks (Intrinsic Labs), commit 9cd5519',
    url: 'https://github.com/IntrinsicLabs/nodejs-reverse-proxy-benchmarks',
    machine: 'a machine that it does not name, in March 2019, one NGINX worker',
    tool: 'siege -c 10 -r 20000 -b',
  },
  systems: { ...NEW, ...KEPT, ...CLUSTER },
  races: {
    'new connections': {
      systems: Object.keys(NEW),
      workload: { ...SMALL, ...NEW_CONNECTIONS },
      connections: 16,
      sliceMs: 250,
    },
    kept: { systems: Object.keys(KEPT), workload: SMALL, connections: 64 },
    cluster: { systems: Object.keys(CLUSTER), workload: SMALL, connections: 10 },
  },
  claims: [
    claim('tls', 'TLS by NGINX instead of node:https: 1.16 times the rate', {
      'rsa-nginx': 865,
      'rsa-node': 746,
    }),
    claim('gzip', 'gzip by NGINX instead of Node: 1.50 times the rate', {
      'small-gzip-nginx': 7590,
      'small-gzip-node': 5047,
    }),
    claim('plain', 'Without either, NGINX in front leaves 0.82 of the rate', {
      'new-naive': 8117,
      'new-node': 9881,
    }),
    claimsOf('cluster', 'rate')(
      'cluster',
      'NGINX in front of two processes is as fast as node:cluster with two workers (0.99)',
      { 'nginx-cluster': 7908, cluster: 8006 },
    ),
  ],
  steps: [
    ...(['node', 'nginx'] as const).flatMap((way) => [
      step(`a full handshake, RSA: ${NAMES[way]}`, 'new connections', `new-${way}`, `rsa-${way}`),
      step(`ECDSA instead of RSA: ${NAMES[way]}`, 'new connections', `rsa-${way}`, `ecdsa-${way}`),
      step(`TLS on kept connections: ${NAMES[way]}`, 'kept', `kept-${way}`, `kept-tls-${way}`),
    ]),
    step('NGINX without TLS, kept to Node', 'new connections', 'new-node', 'new-nginx'),
  ],
}
