import { deepEqual, equal, match } from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkNginx, DRAINING, MissingNginx } from '../nginx.ts'

const ROOT = join(import.meta.dirname, '..')

test('in NGINX', async (t) => {
  const port = await findPort()
  const env = { ...process.env, PORT: String(port) }
  const url = `http://127.0.0.1:${port}`
  execFileSync(process.execPath, ['bundle.ts'], { cwd: ROOT, env })
  try {
    checkNginx()
  } catch (error) {
    if (error instanceof MissingNginx) return t.skip(error.message)
    throw error
  }

  writeFileSync(DRAINING, '') // as if it had been stopped so: the next start is ready again
  const service = spawn(process.execPath, ['start.ts'], { cwd: ROOT, env, stdio: 'inherit' })
  const ended = once(service, 'exit')
  t.after(() => {
    service.kill()
    rmSync(DRAINING, { force: true })
  })
  while (service.exitCode === null && !(await isUp(url))) await sleep(50)

  await t.test('responds with the headers that every response has', async () => {
    const response = await fetch(`${url}/livez`, { headers: { 'x-request-id': 'r-1' } })
    equal(response.status, 200)
    equal(await response.text(), '{"status":"pass"}')
    equal(response.headers.get('x-request-id'), 'r-1')
    equal(response.headers.get('x-content-type-options'), 'nosniff')
  })

  await t.test('refuses as it should, with a problem', async () => {
    for (const [path, init, status] of [
      ['/no/such/path', {}, 404],
      ['/%zz', {}, 400],
      ['/livez', { method: 'DELETE' }, 405],
      ['/livez', { method: 'POST', body: 'x'.repeat(65_537) }, 413],
      ['/livez', { headers: { filler: 'x'.repeat(17_000) } }, 431],
    ] as const) {
      const response = await fetch(url + path, init)
      equal(response.status, status)
      equal(response.headers.get('content-type'), 'application/problem+json')
      equal(JSON.parse(await response.text()).status, status)
    }
  })

  await t.test('is not ready while run/draining exists', async () => {
    equal((await fetch(`${url}/readyz`)).status, 200)
    writeFileSync(DRAINING, '')
    equal((await fetch(`${url}/readyz`)).status, 503)
    rmSync(DRAINING)
    equal((await fetch(`${url}/readyz`)).status, 200)
  })

  await t.test('logs a line for each response', async () => {
    await fetch(`${url}/missing?a="b"`, { headers: { 'x-request-id': 'logged-1' } })
    const lines = readFileSync(join(ROOT, 'logs/access.log'), 'utf8').trim().split('\n')
    const { time, ms, ...rest } = JSON.parse(lines.at(-1) ?? '')
    match(`${time} ${ms}`, /^\d{13} \d+$/)
    deepEqual([rest.id, rest.method, rest.url, rest.status], ['logged-1', 'GET', '/missing?a=%22b%22', 404])
  })

  await t.test('ends with 0 when it is told to stop', async () => {
    service.kill('SIGTERM')
    deepEqual(await ended, [0, null])
  })
})

async function findPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

function isUp(url: string): Promise<boolean> {
  return fetch(`${url}/livez`).then(
    ({ ok }) => ok,
    () => false,
  )
}
