import { deepEqual } from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { get } from 'node:http'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { test } from 'node:test'
import { findNginx } from '@startgrid/nginx/find.ts'
import { startNginx } from '@startgrid/nginx/instance.ts'
import { readLaunchConfig } from '#shared/launch/config.ts'
import { listen } from '#shared/process/lifecycle.ts'
import { renderConfig } from '../runner/nginx-config.ts'

// The peer is always 127.0.0.1 here.
const CASES: [what: string, trustProxy: string, forwardedFor: string, client: string, isTrusted: boolean][] =
  [
    ['a trusted peer', 'loopback', '203.0.113.7', '203.0.113.7', true],
    ['a trusted peer, for an IPv6 client', 'loopback', '2001:db8::7', '2001:db8::7', true],
    [
      'two proxies, and a forged entry',
      'loopback, uniquelocal',
      '192.0.2.1, 203.0.113.7, 10.0.0.2',
      '203.0.113.7',
      true,
    ],
    ['a peer that is not trusted', '10.0.0.0/8', '203.0.113.7', '127.0.0.1', false],
    ['a peer without TRUST_PROXY', '', '203.0.113.7', '127.0.0.1', false],
  ]

const MODULE = `export default { respond(r) {
  r.return(200, JSON.stringify([r.remoteAddress, r.variables.client_scheme, r.variables.client_host]))
} }`

const nginx = await findNginx({ download: false })
const skip = nginx.kind === 'none' ? nginx.describe() : nginx.njs === undefined && 'this NGINX has no njs'

for (const [what, trustProxy, forwardedFor, client, isTrusted] of CASES) {
  test(`a route behind ${what}`, { skip }, async () => {
    if (nginx.kind === 'none') return
    const directory = mkdtempSync(join(tmpdir(), 'startgrid-'))
    const module = join(directory, 'who.js')
    writeFileSync(module, MODULE)
    const config = readLaunchConfig({ PORT: '0', LOG_LEVEL: 'warn', TRUST_PROXY: trustProxy })
    const url = await findFreeAddress()
    const address = { port: Number(new URL(url).port) }
    const instance = await startNginx(nginx, {
      config: renderConfig({ role: 'hello', module, nginx, address, config, trustProxy }, false),
      listen: [{ host: config.host, ...address }],
    })
    const headers = {
      'x-forwarded-for': forwardedFor,
      'x-forwarded-proto': 'https',
      'x-forwarded-host': 'shop.example',
    }
    // The authority of the target replaces the Host header (RFC 9112 section 3.2.2).
    const [response] = await once(get(url, { path: 'http://direct.example:8080/', headers }), 'response')
    const body = await json(response)
    await instance.stop()
    rmSync(directory, { recursive: true })
    deepEqual(body, isTrusted ? [client, 'https', 'shop.example'] : [client, 'http', 'direct.example:8080'])
  })
}

async function findFreeAddress(): Promise<string> {
  const probe = createServer()
  const found = await listen(probe, readLaunchConfig({ PORT: '0' }))
  await new Promise((resolve) => probe.close(resolve))
  return found
}
