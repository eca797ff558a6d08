import { deepEqual, doesNotMatch, equal, match, rejects } from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startNode } from '@startgrid/cli/test-programs.ts'
import { until } from '@startgrid/cli/until.ts'
import { pino } from 'pino'
import { Settings } from '../src/config.ts'
import { type Check, Lifecycle } from '../src/lifecycle.ts'
import { createLog } from '../src/log.ts'

/** What a service has around its requests: settings, log, health. */

const { PATH = '' } = process.env

/** A program that imports these names from a file of `src`. */
const run = (names: string, file: string, source: string, env: Record<string, string> = {}, cwd?: string) =>
  startNode(
    ['--input-type=module', '--eval', `import ${names} from '${import.meta.resolve(file)}'\n${source}`],
    { env: { PATH, ...env }, cwd },
  )

/** What a program prints that reads its settings and one of its own, and how it ends. */
const readSettings = (env: Record<string, string>, cwd?: string) =>
  run(
    '{ readConfig, Settings }',
    '../src/config.ts',
    `import { z } from '${import.meta.resolve('zod')}'
    const config = readConfig(Settings.extend({ API_KEY: z.string() }))
    console.log(JSON.stringify({ ...config, NODE_ENV: process.env.NODE_ENV }))`,
    env,
    cwd,
  ).ended

test('`::` is every address, also without IPv6 in the kernel', (t) => {
  t.mock.method(fs, 'existsSync', (path: string) => path !== '/proc/net/if_inet6')
  t.after(syncBuiltinESMExports)
  syncBuiltinESMExports()
  equal(Settings.parse({ HOST: '::' }).HOST, process.platform === 'linux' ? '0.0.0.0' : '::')
  t.mock.restoreAll()
  syncBuiltinESMExports()
  equal(Settings.parse({ HOST: '::1' }).HOST, '::1')
})

test('settings are read from .env, the environment is stronger, and what is empty is not set', async () => {
  using directory = fs.mkdtempDisposableSync(join(tmpdir(), 'settings-'))
  fs.writeFileSync(join(directory.path, '.env'), 'PORT=4000\nLOG_LEVEL=warn\nAPI_KEY=x\n')
  const env = { LOG_LEVEL: 'error', TRUST_PROXY: '', HOST: ' ' }
  const { stdout } = await readSettings(env, directory.path)
  const { PORT, LOG_LEVEL, TRUST_PROXY, HOST, NODE_ENV } = JSON.parse(stdout)
  deepEqual([PORT, LOG_LEVEL, TRUST_PROXY, HOST, NODE_ENV], [4000, 'error', false, '127.0.0.1', 'production'])
})

test('each bad setting is one line, without its value, and the exit code is 1', async () => {
  const bad = { PORT: '99999', LOG_LEVEL: 'loud', HANDLER_TIMEOUT_MS: '5' }
  const { code, stdout, stderr } = await readSettings(bad)
  deepEqual([code, stdout], [1, ''])
  match(stderr, /^PORT is not valid: .*65535\.$/m)
  match(stderr, /^LOG_LEVEL is not valid: .*"fatal"/m)
  match(stderr, /^HANDLER_TIMEOUT_MS is not valid: .*100\.$/m)
  match(stderr, /^API_KEY is not valid: .+\.$/m)
  equal(stderr.split('\n').length, 5)
})

test('numbers are whole; proxies are addresses, ranges and names, and not a number of hops', () => {
  for (const PORT of ['1.5', '-1', 'x', '1 2', '1000000000'])
    equal(Settings.safeParse({ PORT }).success, false, PORT)
  equal(Settings.parse({ PORT: '65535' }).PORT, 65_535)
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

/** A program that logs so many lines of 1 kB, and says so on standard error. */
const chatter = (lines: number, end = '') =>
  run(
    '{ createLog }',
    '../src/log.ts',
    `const log = createLog({ LOG_LEVEL: 'info' })
    for (let n = 0; n < ${lines}; n++) {
      log.info({ n, padding: 'x'.repeat(1000) }, 'chatter')
      if (n % 100 === 0) await new Promise(setImmediate)
    }
    ${end}`,
  )

test('every exit writes what waits in the log', async () => {
  for (const end of ['', 'process.exit(3)', "throw new Error('unforeseen')"]) {
    const { stdout } = await chatter(2_000, end).ended
    const lines = stdout.trim().split('\n')
    deepEqual([lines.length, JSON.parse(lines.at(-1) ?? '').n], [2_000, 1_999], end)
  }
})

test('a reader of the log that stops reading stops nobody, and no exit', async () => {
  const { child } = chatter(20_000, 'process.exit(3)') // more than may wait
  child.stdout.removeAllListeners('data').pause()
  equal((await once(child, 'exit'))[0], 3)
})

test('what the log cannot write is dropped, and the next line says how many were', async () => {
  const fifo = join(fs.mkdtempSync(join(tmpdir(), 'log-')), 'fifo')
  execFileSync('mkfifo', [fifo])
  const read = () => new Socket({ fd: fs.openSync(fifo, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK) })
  let reader = read()
  const stdout = fs.openSync(fifo, 'w')
  const source = `import { createLog } from '${import.meta.resolve('../src/log.ts')}'
    const log = createLog({ LOG_LEVEL: 'info' })
    let n = 0
    process.stdin.on('data', () => {
      for (let line = 0; line < 10; line++) log.info({ n: n++ }, 'chatter')
      setTimeout(() => process.stderr.write('flushed'), 200)
    })`
  const child = spawn('node', ['--input-type=module', '--eval', source], { stdio: ['pipe', stdout, 'pipe'] })
  fs.closeSync(stdout)
  const say = async () => {
    child.stdin?.write('ten lines')
    await once(child.stderr ?? child, 'data')
  }
  await say()
  await once(reader, 'data')
  await once(reader.destroy(), 'close')
  await say()
  reader = read()
  let text = ''
  reader.on('data', (part) => {
    text += part
  })
  await say()
  await until('the lines are not there', () => text.split('\n').length > 11) // the first is written alone
  child.kill()
  const lines = text.trim().split('\n')
  const told = lines.map((line) => JSON.parse(line))
  deepEqual([told.length, told[0].dropped, told[1].n], [11, 10, 20])
})

test('an error is logged without what an HTTP client adds, wherever in it', () => {
  const lines: string[] = []
  const log = createLog({ LOG_LEVEL: 'info' }, { write: (line) => void lines.push(line) })
  const secret = { headers: { authorization: 'secret', cookie: 'secret' }, data: 'secret' }
  const failure = () =>
    Object.assign(new Error('Unauthorized'), {
      ...{ config: secret, request: secret, response: { status: 401, ...secret }, options: secret },
      ...{ code: 'ERR_BAD_REQUEST', status: 401, rawPacket: 'secret' },
    })
  const nested = new Error('outer', { cause: new AggregateError([failure()], 'inner', { cause: failure() }) })
  const circular = failure()
  circular.cause = circular
  for (const err of [failure(), nested, circular, failure().response]) log.error({ err }, 'failed')
  log.error(failure())
  doesNotMatch(lines.join(''), /secret/)
  const [{ err: first }, { err: second }] = lines.map((line) => JSON.parse(line))
  match(first.stack, /^Error: Unauthorized\n +at /)
  deepEqual([first.type, first.code, first.status], ['Error', 'ERR_BAD_REQUEST', 401])
  deepEqual([second.cause.errors[0].status, second.cause.cause.code], [401, 'ERR_BAD_REQUEST'])
})

function recordLifecycle() {
  const lines: unknown[] = []
  const write = (line: string) => {
    const { msg, check, err } = JSON.parse(line)
    lines.push([msg, check, err?.message])
  }
  return { lifecycle: new Lifecycle(pino({ level: 'info' }, { write })), lines }
}

test('not ready if a check rejects, says no or does not respond, which it is told and is logged', async () => {
  const alive = setInterval(() => {}, 1_000) // as a server would: the time of a check does not keep the process alive
  const silent: Check = (signal) => once(signal, 'abort').then(() => new Promise(() => {}))
  for (const [check, message] of [
    [() => Promise.reject(new Error('no')), 'no'],
    [() => false, undefined],
    [silent, 'The operation was aborted due to timeout'],
  ] as [Check, string | undefined][]) {
    const { lifecycle, lines } = recordLifecycle()
    lifecycle.addCheck('cache', async () => 'pong')
    equal(await lifecycle.isReady(), true)
    lifecycle.addCheck('database', check)
    equal(await lifecycle.isReady(), false)
    deepEqual(lines, [['not ready', 'database', message]])
  }
  clearInterval(alive)
})

test('checks run at the same time; not ready if draining begins meanwhile', async () => {
  const { lifecycle } = recordLifecycle()
  const { promise, resolve } = Promise.withResolvers<void>()
  lifecycle.addCheck('waits for the second', () => promise)
  lifecycle.addCheck('second', () => resolve())
  equal(await lifecycle.isReady(), true)
  const ready = lifecycle.isReady()
  lifecycle.drain()
  deepEqual([await ready, lifecycle.signal.aborted], [false, true])
})

test('what is to be closed is closed one after the other, the newest first; one that throws or rejects keeps none open, and is told', async () => {
  const { lifecycle } = recordLifecycle()
  const steps: string[] = []
  lifecycle.onClose(() => steps.push('database'))
  lifecycle.onClose(async () => {
    await Promise.resolve()
    steps.push('queue')
    throw new Error('queue')
  })
  lifecycle.onClose(() => {
    throw new Error('telemetry')
  })
  await rejects(lifecycle.close(), { errors: [new Error('telemetry'), new Error('queue')] })
  deepEqual(steps, ['queue', 'database'])
})
