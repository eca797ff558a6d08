import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server as HttpServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createRace } from '../../src/experiment/race.ts'
import { createStudyResult } from '../../src/experiment/result.ts'
import { pilot } from '../../src/measure/pilot.ts'
import { PilotError } from '../../src/measure/proof.ts'
import type { LoadRace } from '../../src/result/experiment.ts'
import type { Server } from '../../src/servers/servers.ts'
import { fakeGenerator } from '../fixtures/evidence.ts'

/** What a pilot refuses of servers in this process; no load is offered, it fails as it is told. */

interface Subject {
  respond?: RequestListener
  /** Connections that it keeps. */
  keeps?: number
  /** Errors of its load. */
  errors?: Record<string, number>
  /** Why it is no longer there after a load. */
  ended?: string
  /** Why it did not start; without a reason it is still starting. */
  absent?: string | null
}

const saying =
  (text: string, status = 200): RequestListener =>
  (_request, response) =>
    response.writeHead(status).end(text)

/** From the sixth response on, which is after those that are compared. */
function later(first: RequestListener, then: RequestListener): RequestListener {
  let count = 0
  return (request, response) => (++count > 5 ? then : first)(request, response)
}

/** @returns what the pilot found, and what it said and warned of */
async function run(
  context: TestContext,
  subjects: Readonly<Record<string, Subject>>,
  { different = false, endsInMs = Number.POSITIVE_INFINITY, paths = ['/'] } = {},
) {
  const names = Object.keys(subjects)
  const requests = paths.map((path) => ({ path, ...(paths.length > 1 && { weight: 1 }) }))
  const experiment = createRace({ systems: names.map((name) => ({ name })), requests, connections: 32 })
  const result = createStudyResult(experiment, { profile: 'full', heats: 5, seed: 1 }, '')
  const [[name = '', race] = []] = Object.entries(experiment.races)
  const said: string[] = []
  const running = new Map<string, Server>()
  const failures = new Map<string, string>()
  const ports = new Map<number, Subject>()
  for (const { id, app } of result.cells) {
    const { absent, keeps, ended = null, ...subject } = subjects[app] ?? {}
    if (absent) failures.set(id, absent)
    if (absent !== undefined) continue
    let asked = 0
    const server = createServer(subject.respond ?? saying('x'))
    if (keeps !== undefined) server.maxConnections = keeps
    const port = await listen(context, server)
    ports.set(port, subject)
    running.set(id, {
      target: { host: '127.0.0.1', port },
      // Its connections break a moment before its end is known.
      whyEnded: async () => (++asked > 2 ? ended : null),
      beginAccount: async () => async () => () => ({
        cpuSeconds: { app: 0.1, proxy: 0, generator: 0.1 },
        disturbance: { serverWait: 0, generatorWait: 0, serverForeign: 0, generatorForeign: 0 },
      }),
    })
  }
  const prepared = {
    start: async () => ({ running, failures, launches: async () => [], stop: async () => {} }),
    generator: fakeGenerator(async ({ target }) => ({
      errors: ('port' in target && ports.get(target.port)?.errors) || {},
    })),
    progress: { begin() {}, update() {}, stop() {}, say: (text: string) => said.push(text) },
    warn: ({ text }: { text: string }) => said.push(text),
    ...{ signal: new AbortController().signal, result, endsAt: performance.now() + endsInMs },
  } as unknown as Parameters<typeof pilot>[0]
  const options = { different, status: undefined }
  return { found: await pilot(prepared, name, race as LoadRace, result.cells, options), said }
}

async function listen(context: TestContext, server: HttpServer): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  context.after(() => server.close().closeAllConnections())
  return (server.address() as AddressInfo).port
}

const ids: RequestListener = (_request, response) =>
  response.end(JSON.stringify({ id: Math.random().toString(36), text: 'the same'.repeat(20) }))

const REFUSED: [what: string, subjects: Record<string, Subject>, sentence: RegExp, endsInMs?: number][] = [
  ['a command that ends', { one: {}, exit: { absent: 'it ended' } }, /^exit did not start: it ended\.$/],
  [
    'starts of which five do not fit',
    { one: {}, sleep: { absent: null } },
    /^sleep did not start within \d+ s, so 5 starts do not fit into --max-time: give it more\.$/,
    40_000,
  ],
  [
    'other work',
    { before: {}, other: { respond: saying('other') } },
    /^before and other send different bodies: after "", before has "x" and other "other"\. Equal work comes first: if one was still starting, name a --ready-path; if the difference is meant, add --different-responses\.$/,
  ],
  [
    'another status',
    { before: {}, other: { respond: saying('x', 201) } },
    /^before responds with status 200, other with 201\. Equal work comes first/,
  ],
  [
    'a status that is none of success',
    { one: { respond: saying('no database', 500) } },
    /^one responds to GET \/ with status 500 and "no database", and 2xx was expected: see --path, /,
  ],
  [
    'responses of which little stays the same',
    {
      one: {
        respond: (_request, response) =>
          response.end(Array.from({ length: 40 }, () => `<b>${Math.random()}</b>`).join('')),
      },
    },
    /^\d+ % of the bytes that one sends for GET \/ differ from response to response/,
  ],
  [
    'a command that dies under load',
    { mortal: { errors: { reset: 3 }, ended: 'it ended with exit code 7' } },
    /^mortal cannot be raced \(GET \/\): it ended with exit code 7\.$/,
  ],
  [
    'a command that responds with another status under load',
    { failing: { respond: later(saying('x'), saying('x', 500)), errors: { status: 9 } } },
    /^failing cannot be raced \(GET \/\): 9 of 1000 requests failed \(9 status\); it now responds with status 500: "x"\.$/,
  ],
  [
    'a command that was still starting',
    { starting: { respond: later(saying('starting'), saying('hello')), errors: { body: 9 } } },
    /^starting cannot .*; at first it responded "starting", and later "hello": if it was still starting, --ready-path says/,
  ],
  [
    'a command that keeps few connections',
    { few: { keeps: 8, errors: { reset: 24 } } },
    /^few cannot be raced \(GET \/\): .*; it keeps only 8 of 32 connections open: try -c 8\.$/,
  ],
]
for (const [what, subjects, sentence, endsInMs] of REFUSED)
  test(`${what} is refused with a sentence`, async (context) => {
    await rejects(run(context, subjects, { endsInMs }), (error: Error) => {
      match(error.message, sentence)
      return error instanceof PilotError
    })
  })

test('equal work is what stays the same, also of a mixture of paths; other work that is meant is told', async (context) => {
  const { found } = await run(
    context,
    { before: { respond: ids }, after: { respond: ids } },
    { paths: ['/a', '/b'] },
  )
  const [before, after] = found?.record.systems ?? []
  ok(before && after && before.masked > 0 && before.bytes > 2 * 160 && after.masked > 0)
  deepEqual([found?.record.difference, found?.record.decides], [null, 'rate'])
  const mix = Object.values(found?.race.workloads ?? {}).map((one) => one.mix?.map(({ path }) => path))
  deepEqual(mix, [
    ['/a', '/b'],
    ['/a', '/b'],
  ])
  const other = await run(context, { before: {}, other: { respond: saying('other') } }, { different: true })
  equal(other.found?.record.difference, 'before and other send different bodies')
  match(
    other.said.join('\n'),
    /^before and other send different bodies: after "", before has "x" and other "other"\.$/m,
  )
})
