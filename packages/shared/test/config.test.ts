import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { startNode } from '@startgrid/cli/test-programs.ts'
import { Settings } from '../src/config.ts'

const CONFIG = new URL('../src/config.ts', import.meta.url).href

/** What a program prints that reads its settings and one of its own, and how it ends. */
function read(env: Record<string, string>) {
  const source = `
    import { z } from '${import.meta.resolve('zod')}'
    import { readConfig, Settings } from '${CONFIG}'
    console.log(JSON.stringify(readConfig(Settings.extend({ API_KEY: z.string() }))))`
  const { PATH = '' } = process.env
  return startNode(['--input-type=module', '--eval', source], { env: { PATH, ...env } }).ended
}

test('an empty variable is one that is not set', async () => {
  const { code, stdout } = await read({ PORT: ' ', TRUST_PROXY: '', LOG_LEVEL: 'warn', API_KEY: 'x' })
  const { PORT, TRUST_PROXY, LOG_LEVEL, HOST } = JSON.parse(stdout)
  deepEqual([code, PORT, TRUST_PROXY, LOG_LEVEL, HOST], [0, 3000, false, 'warn', '127.0.0.1'])
})

test('each bad setting is one line, without its value, and the exit code is 1', async () => {
  const { code, stdout, stderr } = await read({ PORT: '99999', LOG_LEVEL: 'loud', HANDLER_TIMEOUT_MS: '5' })
  deepEqual([code, stdout], [1, ''])
  match(stderr, /^PORT is not valid: .*65535\.$/m)
  match(stderr, /^LOG_LEVEL is not valid: .*"fatal"/m)
  match(stderr, /^HANDLER_TIMEOUT_MS is not valid: .*100\.$/m)
  match(stderr, /^API_KEY is not valid: .+\.$/m)
  equal(stderr.split('\n').length, 5)
})

test('whole numbers only', () => {
  for (const PORT of ['1.5', '-1', 'x', '1 2', '1000000000'])
    equal(Settings.safeParse({ PORT }).success, false, PORT)
  equal(Settings.parse({ PORT: '65535' }).PORT, 65_535)
})

test('proxies are addresses, ranges and names, and not a number of hops', () => {
  const trusts = (TRUST_PROXY: string, address: string) => {
    const { TRUST_PROXY: isTrusted } = Settings.parse({ TRUST_PROXY })
    return isTrusted ? isTrusted(address, 0) : false
  }
  equal(trusts('loopback, 10.0.0.0/8', '127.0.0.1'), true)
  equal(trusts('loopback,10.0.0.0/8', '10.9.9.9'), true)
  equal(trusts('loopback', '10.9.9.9'), false)
  equal(trusts('', '127.0.0.1'), false)
  for (const TRUST_PROXY of ['1', 'loopback, 1', 'everybody', '10.0.0.0/99', 'true'])
    equal(Settings.safeParse({ TRUST_PROXY }).success, false, TRUST_PROXY)
})
