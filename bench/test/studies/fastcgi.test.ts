import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { findNginx } from '@startgrid/nginx/find.ts'
import { SECURITY_HEADERS } from '@startgrid/shared/http/security-headers.ts'
import { startFronts } from '../../src/environments/native/front.ts'

const found = await findNginx()
const skip = found.kind === 'none' && found.describe()

test('behind NGINX it has the response of the hello app, on kept connections, and SIGTERM ends it', {
  skip,
}, async () => {
  if (found.kind === 'none') return
  const child = spawn(process.execPath, ['src/server.ts', 'json'], {
    cwd: fileURLToPath(new URL('../../studies/nginx-proxy/subjects/fastcgi', import.meta.url)),
    env: { ...process.env, NODE_ENV: 'production', PORT: '0', LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit')
  const [line] = await once(createInterface(child.stdout), 'line')
  const { hostname: host, port } = new URL(JSON.parse(line).address)
  const upstream = { host, port: Number(port) }
  const route = { kind: 'fastcgi', upstreams: [upstream], assets: false } as const
  const nginx = await startFronts(found, [route], { workers: 1, cpus: undefined })
  try {
    const origin = `http://127.0.0.1:${nginx.addresses[0]?.port}`
    const response = await fetch(`${origin}/json`, { headers: { 'x-request-id': 'demo-1' } })
    deepEqual([response.status, await response.json()], [200, { hello: 'world' }])
    equal(response.headers.get('content-type'), 'application/json; charset=utf-8')
    equal(response.headers.get('x-request-id'), 'demo-1')
    for (const [name, value] of Object.entries(SECURITY_HEADERS))
      equal(response.headers.get(name), value, name)
    const made = await fetch(`${origin}/json`, { headers: { 'x-request-id': 'not valid' } })
    match(made.headers.get('x-request-id') ?? '', /^[0-9A-Za-z._-]{1,64}$/)
    const unknown = await fetch(`${origin}/nothing`)
    deepEqual([unknown.status, unknown.headers.get('content-type')], [404, 'application/problem+json'])
    await Promise.all([response, made, unknown].map((one) => one.bodyUsed || one.text()))
  } finally {
    child.kill('SIGTERM')
    const [code] = await exited
    await nginx.stop()
    ok(code === 0, `exit code ${code}`)
  }
})
