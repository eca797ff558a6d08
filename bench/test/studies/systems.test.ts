import assert, { deepEqual, equal, match, ok } from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { request as requestTls } from 'node:https'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { TLSSocket } from 'node:tls'
import { gunzipSync } from 'node:zlib'
import { checkConformance, formatReport } from '@startgrid/conformance/runner.ts'
import { findNginx } from '@startgrid/nginx/find.ts'
import type { Target } from '@startgrid/wire/target.ts'
import { newCell } from '../../src/experiment/cells.ts'
import type { LoadRace, Study } from '../../src/result/experiment.ts'
import { startSystems } from '../../src/servers/native/systems.ts'
import { clusterStudy } from '../../studies/cluster/study.ts'
import { expressToFastify } from '../../studies/express-to-fastify/study.ts'
import { nginxProxy } from '../../studies/nginx-proxy/study.ts'
import { njsVsNode } from '../../studies/njs-vs-node/study.ts'
import { NGINX, overhead, pageOf, WITH_USUAL } from '../../studies/overhead/study.ts'
import { reverseProxy } from '../../studies/reverse-proxy/study.ts'
import { workerPool } from '../../studies/worker-pool/study.ts'

/** Equal work: what systems of studies respond with that are no apps of the grid, each started alone. */

const found = await findNginx()
const nginx = found.kind === 'none' ? undefined : found
const skip = found.kind === 'none' && found.describe()

async function withSystem<Value>(
  { systems }: Pick<Study, 'systems'>,
  name: string,
  use: (target: Target) => Promise<Value>,
): Promise<Value> {
  const cell = newCell({ id: name, race: '', app: name })
  const system = systems[name] ?? assert.fail(name)
  const { running, failures, stop } = await startSystems([{ cell, system, nginx, cpus: undefined }], null)
  try {
    return await use(running.get(name)?.target ?? assert.fail(failures.get(name)))
  } finally {
    await stop()
  }
}

interface Answer {
  status: number | undefined
  headers: IncomingHttpHeaders
  body: Buffer
  /** On the wire, with its headers. */
  bytes: number
  /** What TLS agreed on; undefined without it. */
  agreed: unknown[] | undefined
}

async function askAt(target: Target, path: string, headers = {}): Promise<Answer> {
  const place = 'port' in target ? { host: target.host, port: target.port } : target
  const isTls = 'ca' in target && target.ca !== undefined
  const asking = (isTls ? requestTls : request)({ ...place, path, headers, rejectUnauthorized: false })
  const [response] = (await once(asking.end(), 'response')) as [IncomingMessage]
  const { socket, statusCode: status } = response
  const agreed =
    socket instanceof TLSSocket
      ? [socket.getProtocol(), socket.getCipher().name, Object(socket.getEphemeralKeyInfo()).name]
      : undefined
  const body = await buffer(response)
  return { status, headers: response.headers, body, bytes: socket.bytesRead, agreed }
}

function ask(study: Pick<Study, 'systems'>, name: string, ...paths: string[]): Promise<Answer[]> {
  return withSystem(study, name, (target) => Promise.all(paths.map((path) => askAt(target, path))))
}

const pathOf = ({ races }: Study, race: string) => (races[race] as LoadRace).workload.path

for (const role of ['ssr', 'status'] as const)
  test(`express-to-fastify: conformance of fastify-express/${role}`, () =>
    withSystem(expressToFastify, `fastify-express/${role}`, async (target) => {
      const report = await checkConformance({ target, role })
      if (report.differences.length > 0) throw new Error(`\n${formatReport(report)}`)
    }))

test('express-to-fastify: responses have about the size of the source, and a fragment is the same in all stages', async () => {
  const partial = pathOf(expressToFastify, 'partial')
  const stages = expressToFastify.races.partial?.systems ?? []
  const [[page], ...fragments] = await Promise.all([
    ask(expressToFastify, 'express/ssr', pathOf(expressToFastify, 'full')),
    ...stages.map((name) => ask(expressToFastify, name, partial, `${partial}x`)),
  ])
  // Bytes/Sec over Req/Sec of the source, Express only: 4.74 MB / 482.3 and 673 kB / 534.1.
  ok(Math.abs((page?.bytes ?? 0) / 9828 - 1) < 0.05, `the page has ${page?.bytes} bytes`)
  const express = fragments[stages.indexOf('express/partial')]?.[0]
  ok(Math.abs((express?.bytes ?? 0) / 1260 - 1) < 0.35, `the fragment has ${express?.bytes} bytes`)
  equal(fragments.length, 3)
  const [first, ...others] = fragments.map((answers) =>
    answers.map(({ status, headers, body }) => [status, headers['cache-control'], String(body)]),
  )
  for (const other of others) deepEqual(other, first)
  equal(first?.[1]?.[0], 404)
})

test('cluster: one process and four give the same', async () => {
  for (const name of ['single', 'cluster-4'])
    equal(String((await ask(clusterStudy, name, '/'))[0]?.body), 'Hello World!')
})

test('njs-vs-node: Koa runs without a compiler, and so without types', async () => {
  const [answer] = await ask(njsVsNode, 'hello-jitless', '/json')
  equal(String(answer?.body), '{"hello":"world"}')
})

test('nginx-proxy: NGINX hands the same to a handler by SCGI and by HTTP, and alone it sends what an app sends', {
  skip,
}, async () => {
  const same = ({ status, headers, body }: Answer) => {
    const { date: _, 'x-request-id': id, ...others } = headers
    match(String(id), /^[0-9a-f]{32}$/)
    return [status, others, String(body)]
  }
  const [scgi, http] = [
    await ask(nginxProxy, 'scgi', '/json', '/nothing'),
    await ask(nginxProxy, 'http', '/json', '/nothing'),
  ]
  equal(scgi.map(({ status }) => status).join(), '200,404')
  deepEqual(scgi.map(same), http.map(same))
  const [own, app] = [await ask(nginxProxy, 'nginx', '/json'), await ask(nginxProxy, 'fastify', '/json')].map(
    ([answer]) => {
      const names = Object.keys(answer?.headers ?? {}).toSorted()
      return [
        names.filter((name) => !['server', 'keep-alive', 'connection'].includes(name)),
        String(answer?.body),
      ]
    },
  )
  deepEqual(own, app)
})

/** What a subject responds to these paths, without what differs each time. */
async function comparable(name: string, paths: readonly string[]) {
  const answers = await ask(overhead, name, ...paths)
  return answers.map(({ status, headers, body }, index) => {
    const told = Object.entries(headers)
      .toSorted()
      .map(([header, value]) => {
        const isOwn = header === 'x-request-id' || header === 'date'
        return `${header}: ${isOwn ? value?.length : String(value).replace(/'nonce-.{24}'/, "'nonce-…'")}`
      })
    // A page has nonces.
    return { path: paths[index], status, headers: told, body: body.length < 100 ? String(body) : body.length }
  })
}

for (const framework of Object.keys(overhead.races).filter(
  (name) => name !== NGINX && !name.endsWith(' page'),
))
  test(`overhead: bare ${framework} sends the bytes of the app, and the usual packages the same body`, async () => {
    const page = pageOf(framework)
    const paths = [pathOf(overhead, framework), pathOf(overhead, page)]
    // One program is bare in both races.
    deepEqual(overhead.systems[`${framework} bare`]?.app, overhead.systems[`${page} bare`]?.app)
    const [bare, hello, logged, usual] = await Promise.all([
      comparable(`${framework} bare`, paths),
      comparable(`${framework} logged`, paths.slice(0, 1)),
      comparable(`${page} logged`, paths.slice(1)),
      WITH_USUAL.includes(framework) ? comparable(`${framework} usual`, paths.slice(0, 1)) : undefined,
    ])
    deepEqual(bare, [...hello, ...logged])
    ok(bare.every(({ status }) => status === 200))
    if (usual === undefined) return
    const [{ headers, ...same } = assert.fail()] = usual
    deepEqual(same, { path: paths[0], status: 200, body: '{"hello":"world"}' })
    const names = headers.map((header) => header.replace(/: .*/, ''))
    for (const name of ['x-request-id', 'x-content-type-options', 'referrer-policy'])
      ok(names.includes(name), name)
  })

const PAGE = readFileSync(new URL('../../studies/reverse-proxy/subjects/node/page.html', import.meta.url))

/** Only coding and TLS differ; those with kept connections are the same servers. */
for (const [name, system] of Object.entries(reverseProxy.systems))
  if (system.app?.package.endsWith('/subjects/node') && !name.startsWith('kept-'))
    test(`reverse-proxy: ${name} gives the page`, { skip: system.nginx !== undefined && skip }, async () => {
      const race = Object.values(reverseProxy.races).find((one) => one.systems.includes(name)) as LoadRace
      const { path, headers, expect } = system.workload ?? race.workload
      const { agreed, body, ...answer } = await withSystem(reverseProxy, name, (target) =>
        askAt(target, path, headers),
      )
      const isCompressed = answer.headers['content-encoding'] === 'gzip'
      equal(isCompressed, headers !== undefined)
      deepEqual(isCompressed ? gunzipSync(body) : body, PAGE)
      ok(!isCompressed || expect.includes?.every((text) => body.includes(text)))
      deepEqual(agreed, system.tls && ['TLSv1.3', 'TLS_AES_128_GCM_SHA256', 'X25519'])
    })

for (const name of ['fastify', 'bun'])
  test(`worker-pool: ${name} gives the same by itself and through its pool`, async () => {
    const [own, pooled] = [name, `${name}-pool`].map((one) => workerPool.systems[one])
    assert.ok(own?.app && own.workload && pooled?.workload)
    deepEqual(pooled.app, own.app, 'one program')
    const small = { title: name, app: { ...own.app, env: { POOL_SIZE: '2' } } }
    const paths = [own.workload.path, pooled.workload.path]
    const answers = await ask({ systems: { small } }, 'small', ...paths)
    equal(answers.length, 2)
    for (const { status, body } of answers) deepEqual([status, String(body)], [200, '{"hello":"world"}'])
  })
