import { equal, throws } from 'node:assert/strict'
import { availableParallelism } from 'node:os'
import { test } from 'node:test'
import { readLaunchConfig } from '../../src/launch/config.ts'
import type { Env } from '../../src/process/config.ts'

const ON_LINUX = process.platform !== 'linux' && 'reuse-port needs Linux'

function refuses(env: Env, message: string): void {
  throws(() => readLaunchConfig(env), { name: 'StartError', message })
}

test('as many workers as this process has cores, unless told', () => {
  equal(readLaunchConfig({ CLUSTER: 'cluster' }).workers, availableParallelism())
  equal(readLaunchConfig({ CLUSTER: 'cluster', WORKERS: 'auto' }).workers, availableParallelism())
  equal(readLaunchConfig({ CLUSTER: 'cluster', WORKERS: '3' }).workers, 3)
})

test('says what is wrong with WORKERS and what would be right', () => {
  for (const value of ['', '0', '-1', '1.5', '01', '1e2', '1025', '9999', '10000', 'many', 'AUTO'])
    refuses(
      { CLUSTER: 'cluster', WORKERS: value },
      `WORKERS is "${value}", but must be auto or a whole number from 1 to 1024.`,
    )
})

test('WORKERS alone would do nothing, so it is refused', () => {
  for (const env of [{}, { CLUSTER: 'single' }]) {
    refuses(
      { ...env, WORKERS: '4' },
      'WORKERS is "4", but must be 1 unless CLUSTER is cluster or reuse-port.',
    )
    equal(readLaunchConfig({ ...env, WORKERS: '1' }).workers, 1)
  }
})

test('a unix socket cannot be reused, but shared', { skip: ON_LINUX }, () => {
  refuses(
    { CLUSTER: 'reuse-port', SOCKET: '/run/app.sock' },
    'CLUSTER is "reuse-port", but must be single or cluster with SOCKET: only a port can be reused.',
  )
  equal(readLaunchConfig({ CLUSTER: 'cluster', SOCKET: '/run/app.sock' }).cluster, 'cluster')
})

test('says where a cluster is not to be had', (context) => {
  const pretend = (object: object, name: string, value: unknown) => {
    const own = Object.getOwnPropertyDescriptor(object, name)
    Object.defineProperty(object, name, { value, configurable: true })
    context.after(() =>
      own === undefined ? Reflect.deleteProperty(object, name) : Object.defineProperty(object, name, own),
    )
  }
  pretend(process, 'platform', 'darwin')
  refuses(
    { CLUSTER: 'reuse-port' },
    'CLUSTER is "reuse-port", but must be single or cluster: reuse-port needs Linux.',
  )
  pretend(process, 'versions', { ...process.versions, bun: '1.4.5' })
  for (const mode of ['cluster', 'reuse-port'])
    refuses(
      { CLUSTER: mode },
      `CLUSTER is "${mode}", but must be single on Bun: only Node apps can be clustered.`,
    )
})
