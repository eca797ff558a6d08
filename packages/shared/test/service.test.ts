import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { startNode } from '@startgrid/cli/test-programs.ts'
import { pino } from 'pino'
import { Settings } from '../src/config.ts'
import { type Check, Health } from '../src/health.ts'

/** What a service has around its requests: settings, log, health. */

const { PATH = '' } = process.env

/** A program that imports these names from a file of `src`. */
const run = (names: string, file: string, source: string, env: Record<string, string> = {}) =>
  startNode(
    ['--input-type=module', '--eval', `import ${names} from '${import.meta.resolve(file)}'\n${source}`],
    { env: { PATH, ...env } },
  )

/** What a program prints that reads its settings and one of its own, and how it ends. */
const readSettings = (env: Record<string, string>) =>
  run(
    '{ readConfig, Settings }',
    '../src/config.ts',
    `import { z } from '${import.meta.resolve('zod')}'
    console.log(JSON.stringify(readConfig(Settings.extend({ API_KEY: z.string() }))))`,
    env,
  ).ended

test('an empty variable is one that is not set', async () => {
  const { code, stdout } = await readSettings({ PORT: ' ', TRUST_PROXY: '', LOG_LEVEL: 'warn', API_KEY: 'x' })
  const { PORT, TRUST_PROXY, LOG_LEVEL, HOST } = JSON.parse(stdout)
  deepEqual([code, PORT, TRUST_PROXY, LOG_LEVEL, HOST], [0, 3000, false, 'warn', '127.0.0.1'])
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
    process.stderr.write('done')
    ${end}`,
  )

test('every exit writes what waits in the log, a sudden one perhaps without the write that is on its way', async () => {
  for (const [end, lost] of [
    ['', 0],
    ['process.exit(3)', 16], // lines of 1 kB: one write of 16 kB
    ["throw new Error('unforeseen')", 16],
  ] as const) {
    const { stdout } = await chatter(2_000, end).ended
    const lines = stdout.trim().split('\n')
    equal(JSON.parse(lines.at(-1) ?? '').n, 1_999, end)
    ok(lines.length >= 2_000 - lost, `${end}: ${lines.length} lines`)
  }
})

test('a reader of the log that stops reading stops nobody', async () => {
  const { child } = chatter(20_000) // more than may wait
  child.stdout.removeAllListeners('data').pause()
  match(String((await once(child.stderr, 'data'))[0]), /done/)
  child.kill('SIGKILL')
})

function recordHealth() {
  const lines: unknown[] = []
  const write = (line: string) => {
    const { msg, check, err } = JSON.parse(line)
    lines.push([msg, check, err?.message])
  }
  return { health: new Health(pino({ level: 'info' }, { write })), lines }
}

test('not ready if a check rejects, throws, or says no, which is logged', async () => {
  const throws = () => {
    throw new Error('no')
  }
  const failing: [Check, message: string | undefined][] = [
    [() => Promise.reject(new Error('no')), 'no'],
    [throws, 'no'],
    [() => false, undefined],
    [async () => false, undefined],
  ]
  for (const [check, message] of failing) {
    const { health, lines } = recordHealth()
    health.addCheck('cache', async () => 'pong')
    equal(await health.isReady(), true)
    health.addCheck('database', check)
    equal(await health.isReady(), false)
    deepEqual(lines, [['not ready', 'database', message]])
  }
})

test('checks run at the same time; not ready if draining begins meanwhile', async () => {
  const { health } = recordHealth()
  const { promise, resolve } = Promise.withResolvers<void>()
  health.addCheck('waits for the second', () => promise)
  health.addCheck('second', () => resolve())
  equal(await health.isReady(), true)
  const ready = health.isReady()
  health.drain()
  deepEqual([await ready, health.signal.aborted], [false, true])
})

test('a check that does not respond is told to end, and fails', async () => {
  const { health } = recordHealth()
  const { promise: told, resolve } = Promise.withResolvers<AbortSignal>()
  health.addCheck('database', (signal) => {
    resolve(signal)
    return new Promise(() => {})
  })
  const alive = setInterval(() => {}, 1_000) // as a server would: the time of a check does not keep the process alive
  equal(await health.isReady(), false)
  clearInterval(alive)
  equal((await told).aborted, true)
})

test('what is to be closed is closed one after the other, the newest first', async () => {
  const { health } = recordHealth()
  const steps: string[] = []
  health.onClose(() => steps.push('database'))
  health.onClose(async () => {
    steps.push('queue begins')
    await Promise.resolve()
    steps.push('queue ends')
  })
  await health.close()
  deepEqual(steps, ['queue begins', 'queue ends', 'database'])
})

test('a closer that throws or rejects does not keep the others open, and is told', async () => {
  const { health } = recordHealth()
  const steps: string[] = []
  health.onClose(() => steps.push('database'))
  health.onClose(() => Promise.reject(new Error('queue')))
  health.onClose(() => {
    throw new Error('telemetry')
  })
  await rejects(health.close(), { errors: [new Error('telemetry'), new Error('queue')] })
  deepEqual(steps, ['database'])
})
