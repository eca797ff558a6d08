import { deepEqual, equal, ok } from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { request as requestTls } from 'node:https'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { gunzipSync } from 'node:zlib'
import { findNginx } from '@startgrid/nginx/find.ts'
import type { Target } from '@startgrid/wire/target.ts'
import type { LoadRace, Workload } from '../../src/result/experiment.ts'
import { startSystem } from '../../src/servers/native/systems.ts'
import { reverseProxy } from '../../studies/reverse-proxy/study.ts'

const { systems, races } = reverseProxy
const PAGE = readFileSync(
  new URL('../../studies/reverse-proxy/subjects/node/page.html', import.meta.url),
  'utf8',
)
const front = await findNginx()
const nginx = front.kind === 'none' ? undefined : front

const OWN = Object.entries(systems).filter(([, { app }]) => app?.package.endsWith('/subjects/node'))

/** Every system gives the same page; only its coding and TLS differ. */
for (const [name, system] of OWN) {
  const skip = system.nginx !== undefined && front.kind === 'none' && front.describe()
  test(`${name} gives the page that is asked for`, { skip }, async (t) => {
    const running = await startSystem(system, { nginx })
    t.after(() => running.stop())
    const race = Object.values(races).find((one) => one.systems.includes(name)) as LoadRace
    const workload = system.workload ?? race.workload
    const { response, group } = await ask(running.target, workload)
    const body = await buffer(response)
    const isCompressed = response.headers['content-encoding'] === 'gzip'
    equal(isCompressed, workload.headers !== undefined)
    equal(String(isCompressed ? gunzipSync(body) : body), PAGE)
    ok(!isCompressed || workload.expect.includes?.every((text) => body.includes(text)))
    deepEqual(group, system.tls && ['TLSv1.3', 'TLS_AES_128_GCM_SHA256', 'X25519'])
  })
}

/** The response, and what TLS agreed on; undefined without it. */
async function ask(target: Target, { path, headers = {} }: Workload) {
  if ('socketPath' in target) throw new Error('It listens on a socket, and should on a port.')
  const { host, port, ca } = target
  const asking =
    ca === undefined
      ? request({ host, port, path, headers })
      : requestTls({ host, port, path, headers, rejectUnauthorized: false })
  const [response] = (await once(asking.end(), 'response')) as [IncomingMessage]
  if (ca === undefined) return { response, group: undefined }
  const socket = response.socket as TLSSocket
  const exchange = socket.getEphemeralKeyInfo()
  const group = exchange !== null && 'name' in exchange ? exchange.name : undefined
  return { response, group: [socket.getProtocol(), socket.getCipher().name, group] }
}
