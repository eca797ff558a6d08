import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { until } from '@startgrid/cli/until.ts'
import { hang, launch } from './fixtures/launch.ts'

const LIMIT = { timeout: 120_000 }

const SENTENCES: [what: string, env: Record<string, string>, role: string[], sentence: string][] = [
  ['a bad setting', { PORT: 'x' }, ['slow'], 'PORT is "x", but must be a whole number from 0 to 65535.\n'],
  ['an unknown role', {}, ['quick'], "There is no app 'quick' here, only broken, empty, slow.\n"],
  ['no role', {}, [], 'Say which app to start: broken, empty, slow.\n'],
]

for (const [what, env, role, sentence] of SENTENCES) {
  test(`${what}: one sentence, exit 1`, LIMIT, async () => {
    using app = launch(env, role)
    deepEqual(await app.end(), { code: 1, signal: null, messages: [], lines: [], stderr: sentence })
  })
}

test('a file that the build makes is not there: one sentence, exit 1', LIMIT, async () => {
  using app = launch({}, ['broken'])
  const { code, messages, stderr } = await app.end()
  deepEqual([code, messages], [1, []])
  match(stderr, /^Cannot find module '\S+missing\.js' imported from \S+: install and build first\.\n$/)
})

test('a port in use: one sentence, exit 1', LIMIT, async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const address = other.address()
  const port = String(typeof address === 'object' ? address?.port : '')
  using app = launch({ PORT: port })
  const { code, messages, stderr } = await app.end()
  other.close()
  deepEqual([code, messages], [1, ['closed']]) // an open database would keep the process alive
  match(stderr, new RegExp(`^Port ${port} on 127\\.0\\.0\\.1 is in use by another process: .*\\.\\n$`))
})

test('says where it listens, whatever the log level', LIMIT, async () => {
  using app = launch({ LOG_LEVEL: 'silent' })
  const { address, app: name, pid } = await app.line('listening')
  match(String(address), /^http:\/\/127\.0\.0\.1:\d+$/)
  deepEqual([name, typeof pid], ['fixture/slow', 'number'])
  app.stop()
  const { code, messages, stderr } = await app.end()
  deepEqual([code, messages, stderr], [0, ['listening'], ''])
})

test('SIGTERM amid a slow request: its response is complete, exit 0', LIMIT, async () => {
  using app = launch()
  const { address } = await app.line('listening')
  const response = await fetch(`${address}/slow`)
  app.stop()
  equal(await response.text(), 'first half, second half')
  const { code, signal, messages, stderr } = await app.end()
  deepEqual([code, signal, messages, stderr], [0, null, ['listening', 'draining', 'closed', 'stopped'], ''])
  equal((await app.line('closed')).open, 0)
})

test('while the load balancer gets its time, new connections are served', LIMIT, async () => {
  using app = launch({ SHUTDOWN_DELAY_MS: '600000' })
  const { address } = await app.line('listening')
  app.stop()
  await app.line('draining')
  const response = await fetch(`${address}/`)
  deepEqual([response.headers.get('connection'), await response.text()], ['keep-alive', 'here'])
})

test('busy clients that come back when they are told to lose no request', LIMIT, async () => {
  using app = launch({ SHUTDOWN_DELAY_MS: '2000', SHUTDOWN_TIMEOUT_MS: '60000' })
  const { address } = await app.line('listening')
  const said: (string | undefined)[] = []
  const clients = Array.from({ length: 32 }, () => askUntilRefused(String(address), said))
  await until('the clients have not had 500 responses', () => said.length >= 500)
  app.stop()
  const [{ code }] = await Promise.all([app.end(), ...clients])
  // Told to come back while it still listened, some would meet a socket that is closed before it has accepted them.
  deepEqual([code, [...new Set(said)]], [0, ['keep-alive', 'close']])
})

test('the deadline passes while a request hangs: exit 1', LIMIT, async () => {
  using app = launch({ SHUTDOWN_TIMEOUT_MS: '200' })
  const { address } = await app.line('listening')
  await hang(address)
  app.stop()
  const { code, messages } = await app.end()
  deepEqual([code, messages], [1, ['listening', 'draining', 'killed by timeout (200ms)']])
})

test('a second SIGTERM while a request hangs: exit 1 at once', LIMIT, async () => {
  using app = launch({ SHUTDOWN_TIMEOUT_MS: '600000' })
  const { address } = await app.line('listening')
  await hang(address)
  app.stop()
  await app.line('draining')
  app.stop()
  const { code, messages } = await app.end()
  deepEqual([code, messages], [1, ['listening', 'draining', 'second SIGTERM, exiting']])
})

test('a callback of onClose fails: the others run, exit 1', LIMIT, async () => {
  using app = launch({ FAULT: 'close' })
  await app.line('listening')
  app.stop()
  const { code, messages } = await app.end()
  deepEqual([code, messages.includes('closed'), messages.includes('stopped')], [1, true, false])
})

test('the deadline passes while a callback of onClose hangs: exit 1', LIMIT, async () => {
  using app = launch({ FAULT: 'close for ever', SHUTDOWN_TIMEOUT_MS: '200' })
  await app.line('listening')
  app.stop()
  const { code, messages } = await app.end()
  deepEqual([code, messages], [1, ['listening', 'draining', 'killed by timeout (200ms)']])
})

test('an uncaught exception is logged, the rest is drained, exit 1', LIMIT, async () => {
  using app = launch()
  const { address } = await app.line('listening')
  const response = await fetch(`${address}/slow`)
  const leaving = new AbortController()
  fetch(`${address}/crash`, { signal: leaving.signal }).catch(() => {})
  equal(await response.text(), 'first half, second half')
  const { level, err } = await app.line('uncaught')
  equal(level, 60)
  match(JSON.stringify(err), /crash/)
  leaving.abort()
  const { code, messages } = await app.end()
  deepEqual([code, messages], [1, ['listening', 'uncaught', 'closed', 'stopped']])
})

test('all lines of a busy moment are there and in order, at every kind of exit', LIMIT, async () => {
  for (const [end, code] of [
    ['SIGTERM', 0],
    ['throw', 1],
    ['exit', 3],
  ] as const) {
    // Nothing that a thread of libuv writes may come after what the exit writes.
    using app = launch({ UV_THREADPOOL_SIZE: '1', FAULT: 'busy threads', SHUTDOWN_TIMEOUT_MS: '500' })
    const { address } = await app.line('listening')
    await fetch(`${address}/chatter?${end}`).catch(() => {})
    if (end === 'SIGTERM') app.stop()
    const ended = await app.end()
    equal(ended.code, code)
    const counts = ended.lines.flatMap(({ msg, count }) => (msg === 'chatter' ? count : []))
    deepEqual(
      counts,
      Array.from({ length: 5_000 }, (_, count) => count),
    )
  }
})

test(
  'a collector that stalls: lines beyond the limit are dropped and counted, and the server responds',
  LIMIT,
  async () => {
    using app = launch()
    const { address } = await app.line('listening')
    app.pause()
    for (let times = 0; times < 40; times++) equal(await (await fetch(`${address}/chatter`)).text(), 'here')
    app.resume()
    const { lines: dropped } = await app.line('log was full: lines dropped')
    ok(Number(dropped) > 0)
    app.stop()
    const { code, lines } = await app.end()
    deepEqual([code, lines.filter(({ msg }) => msg === 'chatter').length + Number(dropped)], [0, 200_000])
  },
)

test('an exit while the collector stalls: what was dropped is counted there', LIMIT, async () => {
  using app = launch()
  const { address } = await app.line('listening')
  app.pause()
  for (let times = 0; times < 40; times++) await (await fetch(`${address}/chatter`)).text()
  app.stop()
  await until('it still listens', () => refuses(String(address)))
  app.resume()
  const { code, lines } = await app.end()
  const [full, ...more] = lines.filter(({ msg }) => msg === 'log was full: lines dropped')
  deepEqual([code, more], [0, []])
  // Beside the chatter: listening, draining, closed and stopped.
  equal(lines.length - 1 + Number(full?.lines), 200_004)
})

for (const [how, exit] of [
  ['SIGTERM', 0],
  ['a second SIGTERM', 1],
  ['an uncaught exception', 1],
  ['a call of exit', 3],
] as const)
  test(`after ${how}, an app whose collector has ended ends as well`, LIMIT, async () => {
    using app = launch()
    const { address } = await app.line('listening')
    if (how === 'a second SIGTERM') await hang(address)
    await app.leave()
    const leaving = new AbortController()
    if (how === 'an uncaught exception') fetch(`${address}/crash`, { signal: leaving.signal }).catch(() => {})
    else if (how === 'a call of exit') await fetch(`${address}/chatter?exit`).catch(() => {})
    else app.stop()
    await until('it still listens', () => refuses(String(address)))
    leaving.abort()
    if (how === 'a second SIGTERM') app.stop()
    const { code, stderr } = await app.end()
    deepEqual([code, stderr], [exit, ''])
  })

function refuses(address: string): Promise<boolean> {
  return fetch(`${address}/`).then(
    () => false,
    () => true,
  )
}

/**
 * Asks on a kept connection, and on a new one whenever that was closed, until it is refused.
 * @param said gets what each response says about the connection
 * @throws {Error} if a request on a new connection is lost, or if it was told to leave too soon
 */
async function askUntilRefused(address: string, said: (string | undefined)[]): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  let isTold = false
  for (;;) {
    const asked = get(address, { agent })
    try {
      const [response] = await once(asked, 'response')
      await text(response)
      equal(isTold, false, 'A client was told to leave while the app still listened.')
      isTold = response.headers.connection === 'close'
      said.push(response.headers.connection)
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED') return
      // On a busy machine, a client may stand still until its connection is closed as idle.
      if (!asked.reusedSocket) throw error
    }
  }
}
