import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { type ClientRequest, createServer, get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startNode } from '@startgrid/cli/test-programs.ts'
import { until } from '@startgrid/cli/until.ts'
import { claimPort } from '../src/render/address.ts'
import { isRunning, workersOf } from '../src/run/master.ts'
import { ANY, app, makeDirectory, nginx, request, skip } from './support.ts'

const SCRIPT = join(import.meta.dirname, '..', 'src', 'cli.ts')

describe('cli', { skip }, () => {
  const runtime = makeDirectory('startgrid-cli-')

  after(() => cli('stop'))

  async function cli(...args: string[]) {
    const env = { ...process.env, XDG_RUNTIME_DIR: runtime }
    const { code, stdout, stderr } = await startNode([SCRIPT, ...args], { env }).ended
    return { code, out: stdout, err: stderr }
  }
  const inDirectory = (file: string) => join(runtime, 'startgrid-nginx', file)

  test('start, status, stop', async () => {
    const listen = { ...ANY, port: await claimPort(ANY) }
    const apps = [`127.0.0.1:${app.address.port}`, '127.0.0.1:9'] // the second is not there, so the first stands in
    const where = ['--listen', `127.0.0.1:${listen.port}`, ...apps.flatMap((one) => ['--upstream', one])]
    const started = await cli('start', ...where, '--workers', '2')
    const route = `http://127.0.0.1:${listen.port} to ${apps.join(' and ')}`
    assert.deepEqual(started, { code: 0, out: `Started ${nginx?.describe()}: ${route}.\n`, err: '' })
    const again = await cli('start', ...where)
    assert.equal(again.code, 1)
    assert.match(again.err, /^NGINX is running already: .* Stop it first with pnpm nginx stop\.\n$/)
    assert.match((await cli('status')).out, /\nMaster process \d+, workers \d+, \d+; files and logs in /)
    const stopped = await cli('stop')
    assert.match(stopped.out, /^Stopped NGINX .*; every request in flight got its response\.\n$/)
    assert.deepEqual(await cli('status'), { code: 3, out: 'NGINX is not running.\n', err: '' })
    await assert.rejects(request(listen, '/json'), { failure: 'refused' })
  })

  test('old workers of three reloads end, although a client reads a stream by each', async () => {
    await using streams = createServer((_request, response) => {
      const beat = setInterval(() => response.write('.'), 500)
      response.on('close', () => clearInterval(beat))
    }).listen(0, '127.0.0.1')
    await once(streams, 'listening')
    const { port } = streams.address() as AddressInfo
    const listen = { ...ANY, port: await claimPort(ANY) }
    await cli('start', '--listen', `127.0.0.1:${listen.port}`, '--upstream', `127.0.0.1:${port}`)
    const master = Number(await readFile(inDirectory('nginx.pid'), 'utf8'))
    const clients: ClientRequest[] = []
    for (let reload = 0; reload < 3; reload += 1) {
      const client = get({ ...listen, path: '/stream' }).on('error', () => {})
      const [response] = (await once(client, 'response')) as [IncomingMessage]
      response.resume().on('error', () => {})
      clients.push(client)
      process.kill(master, 'SIGHUP')
    }
    try {
      await until('an old worker serves its stream', () => workersOf(master).length === 1)
    } finally {
      for (const client of clients) client.destroy()
      streams.closeAllConnections()
      await cli('stop')
    }
  })

  test('one that was killed is not running, and does not stand in the way', async () => {
    const first = await cli('start', '--listen', '127.0.0.1:0', '--upstream', '127.0.0.1:9')
    const listen = /http:\/\/([\d.:]+) to/.exec(first.out)?.[1] ?? ''
    const pid = Number(await readFile(inDirectory('nginx.pid'), 'utf8'))
    process.kill(pid, 'SIGKILL')
    while (isRunning(pid)) await sleep(5)
    assert.equal((await cli('status')).code, 3)
    const start = () => cli('start', '--listen', listen, '--upstream', '127.0.0.1:9')
    let second = await start()
    // The workers that were left behind take a moment to go.
    while (second.err.startsWith('Something else listens')) second = await start()
    assert.deepEqual([second.code, second.err], [0, ''])
    await cli('stop')
  })

  test('what is not understood: exit code 2 and what is right', async () => {
    const wrong = [
      [['restart'], 'There is no command "restart": start, status or stop.'],
      [['start', '--workers', 'many'], "--workers is 'many', but must be a whole number from 1 to 256."],
    ] as const
    const results = await Promise.all(wrong.map(([args]) => cli(...args)))
    assert.deepEqual(
      results,
      wrong.map(([, message]) => ({ code: 2, out: '', err: `${message}\n` })),
    )
  })
})
