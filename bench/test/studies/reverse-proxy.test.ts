import { deepEqual, equal, ok, throws } from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { request as requestTls } from 'node:https'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import type { TLSSocket } from 'node:tls'
import { gunzipSync } from 'node:zlib'
import { findNginx } from '@startgrid/nginx/find.ts'
import type { Target } from '@startgrid/wire/target.ts'
import { startSystem } from '../../src/environments/native/systems.ts'
import type { LoadRace, Workload } from '../../src/model/experiment.ts'
import { readH2load } from '../../studies/reverse-proxy/h2load.ts'
import { reverseProxy } from '../../studies/reverse-proxy/study.ts'
import { PAGES } from '../../studies/reverse-proxy/subjects/node/src/pages.ts'

const { systems, races } = reverseProxy
const front = await findNginx()
const nginx = front.kind === 'none' ? undefined : front

/** Without those that h2load asks. */
const OWN = Object.entries(systems).filter(
  ([, { app, lacks }]) => app?.package.endsWith('/subjects/node') && lacks === undefined,
)

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
    equal(String(isCompressed ? gunzipSync(body) : body), PAGES[workload.path])
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

/** As h2load 1.52 prints it, shortened. */
const printed = ({ protocol = 'h2', failed = 0, bad = 0 } = {}) => `TLS Protocol: TLSv1.3
Application protocol: ${protocol}

finished in 1.00s, 9000.00 req/s, 1.00MB/s
requests: 9000 total, 9064 started, 9000 done, 9000 succeeded, ${failed} failed, 0 errored, 0 timeout
status codes: 9000 2xx, 0 3xx, 0 4xx, ${bad} 5xx
traffic: 1.00MB (1000000) total, 100KB (100000) headers (space savings 90.00%), 500KB (500000) data
`

test('what h2load counted counts if it spoke the protocol and all responses are right', () => {
  equal(readH2load(printed(), 'h2'), 9000)
  throws(() => readH2load(printed({ protocol: 'http/1.1' }), 'h2'), /spoke http\/1\.1 instead of h2/)
  throws(() => readH2load(printed({ failed: 3 }), 'h2'), /3 failed requests beside 9000/)
  throws(() => readH2load(printed({ bad: 2 }), 'h2'), /2 failed requests beside 9000/)
  throws(() => readH2load('', 'h2'), /spoke nothing/)
})
