import { deepEqual, doesNotMatch, equal, match } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { PROBLEM } from '../problem.ts'
import { SECURITY_HEADERS } from '../security.ts'
import { createOptions, ERROR, type Start } from './app.ts'

/**
 * What a service should not lose when it is changed: errors, limits, log and stop.
 * @param start an app with `GET /throws`, whose error says "secret"; `GET /hangs`; `POST /echo`, which responds with the JSON that it got
 */
export function testService(start: Start): void {
  const headers = { 'content-type': 'application/json', 'x-request-id': 'r-1' }

  test('errors: a client learns nothing of the cause, which is logged once with the id of the request', async () => {
    const { readLines, ...options } = createOptions()
    await using app = await start(options)
    const response = await fetch(`${app.url}/throws`, { headers })
    const { type, title, status } = { type: 'about:blank', title: 'Internal Server Error', status: 500 }
    deepEqual([response.status, await response.json()], [status, { type, title, status }])
    equal(response.headers.get('content-type')?.split(';')[0], PROBLEM)
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) equal(response.headers.get(name), value)
    equal((await fetch(`${app.url}/nowhere`)).status, 404)
    const [failed, ...others] = (await readLines(3)).filter(({ level }) => level === ERROR)
    deepEqual([failed?.requestId, others], ['r-1', []])
    match(JSON.stringify(failed), /secret/)
  })

  test('limits: a body over 64 KiB is 413', async () => {
    await using app = await start(createOptions())
    const post = (body: string) => fetch(`${app.url}/echo`, { method: 'POST', headers, body })
    deepEqual(await (await post('{"a":1}')).json(), { a: 1 })
    equal((await post(JSON.stringify('x'.repeat(70_000)))).status, 413)
  })

  test('limits: a handler that stays silent is 503', async () => {
    const { readLines, ...options } = createOptions({ HANDLER_TIMEOUT_MS: '100' })
    await using app = await start(options)
    const late = await fetch(`${app.url}/hangs`, { headers })
    deepEqual([late.status, late.headers.get('connection')], [503, 'close'])
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) equal(late.headers.get(name), value)
    const [line] = await readLines(1)
    deepEqual([line?.status, line?.requestId], [503, 'r-1'])
  })

  test('log: a line for each response, without the query', async () => {
    const { readLines, ...options } = createOptions()
    await using app = await start(options)
    await fetch(`${app.url}/livez`) // a probe has none
    await fetch(`${app.url}/echo?secret=1`, { method: 'POST', headers, body: '{}' })
    const [line] = await readLines(1)
    const { requestId, method, path, route, status, ms, client } = Object(line)
    deepEqual([requestId, method, path, route, status], ['r-1', 'POST', '/echo', '/echo', 200])
    deepEqual([typeof ms, client], ['number', '127.0.0.1'])
    doesNotMatch(JSON.stringify(line), /secret/)
  })

  test('stop: readiness fails, a request under way gets its response, and the exit code is 0', {
    skip: process.platform === 'win32' && 'Windows has no SIGTERM',
  }, async () => {
    const env = { ...process.env, HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'info' }
    const server = spawn(process.execPath, ['src/server.ts'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    const lines = createInterface(server.stdout)
    const said = (msg: string) =>
      new Promise<{ address: string }>((resolve) => {
        lines.on('line', (line) => line.includes(`"msg":"${msg}"`) && resolve(JSON.parse(line)))
      })
    const [listening, draining] = [said('listening'), said('draining')]
    const { address } = await listening
    const { hostname, port, host } = new URL(address)
    const socket = connect(Number(port), hostname)
    socket.write('GET /readyz HTTP/1.1\r\n')
    await fetch(`${address}/livez`) // the server has the half request
    server.kill()
    await draining
    while (await fetch(`${address}/livez`).catch(() => undefined)) await sleep(10)
    socket.write(`host: ${host}\r\n\r\n`)
    match(await text(socket), /^HTTP\/1\.1 503 [\s\S]*connection: close[\s\S]*"fail"/i)
    deepEqual(await once(server, 'exit'), [0, null])
  })
}
