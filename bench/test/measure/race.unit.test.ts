import { deepEqual, equal, match, ok, rejects, throws } from 'node:assert/strict'
import { createServer, type RequestListener } from 'node:http'
import { describe, type TestContext, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { listen } from '@startgrid/cli/test-programs.ts'
import { Checker } from '@startgrid/loadgen/expectation.ts'
import { createRace, RACE_SETTINGS } from '../../src/experiment/race.ts'
import { createStudyResult } from '../../src/experiment/result.ts'
import { pilot } from '../../src/measure/pilot.ts'
import { PilotError } from '../../src/measure/proof.ts'
import { fitsLatencies, planStarts } from '../../src/measure/race.ts'
import type { LoadRace } from '../../src/result/experiment.ts'
import type { Server } from '../../src/servers/servers.ts'
import { fakeGenerator, fakeServer, startedOf } from '../fixtures/laboratory.ts'

/** What a pilot refuses of servers in this process; no load is offered, it fails as it is told. */

interface Subject {
  respond?: RequestListener
  /** Connections that it keeps. */
  keeps?: number
  /** Errors of its load. */
  errors?: Record<string, number>
  /** Of its first load alone. */
  errorsOnce?: Record<string, number>
  /** Why it is no longer there after a load. */
  ended?: string
  /** Why it did not start. */
  absent?: string
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
  { different = false, paths = ['/'], needsProfiler = false } = {},
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
    if (absent !== undefined) {
      failures.set(id, absent)
      continue
    }
    let asked = 0
    const server = createServer(subject.respond ?? saying('x'))
    if (keeps !== undefined) server.maxConnections = keeps
    const port = await listen(context, server)
    ports.set(port, subject)
    // Its connections break a moment before its end is known.
    const whyEnded = async () => (++asked > 2 ? ended : null)
    running.set(id, fakeServer(port, whyEnded))
  }
  const prepared = {
    start: async () => startedOf(running, failures),
    generator: fakeGenerator(async ({ target }) => {
      const subject: Subject = ('port' in target && ports.get(target.port)) || {}
      const { errors = {}, errorsOnce = errors } = subject
      delete subject.errorsOnce
      return { errors: errorsOnce }
    }),
    progress: { begin() {}, update() {}, stop() {}, say: (text: string) => said.push(text) },
    warn: ({ text }: { text: string }) => said.push(text),
    signal: new AbortController().signal,
    result,
    endsAt: Number.POSITIVE_INFINITY,
  } as unknown as Parameters<typeof pilot>[0]
  const options = { different, status: undefined, needsProfiler }
  return { found: await pilot(prepared, name, race as LoadRace, result.cells, options), said }
}

const ids: RequestListener = (_request, response) =>
  response.end(JSON.stringify({ id: Math.random().toString(36), text: 'the same'.repeat(20) }))

const random: RequestListener = (_request, response) =>
  response.end(Array.from({ length: 40 }, () => `<b>${Math.random()}</b>`).join(''))

/** It changes each second, as a date does, and from the sixth response on. */
const clock = (): RequestListener => {
  const from = Date.now()
  let count = 0
  return (_request, response) => {
    const seconds = Math.floor((Date.now() - from) / 1000)
    response.setHeader(`x-${seconds}`, seconds)
    response.end(`{"up":${seconds},"cached":${++count > 5 ? 2 : 1},"text":"${'the same'.repeat(20)}"}`)
  }
}

/** With another id each, compressed as much as that. */
const compressed =
  (level: number): RequestListener =>
  (_request, response) => {
    const text = JSON.stringify({ id: Math.random(), text: 'the same'.repeat(99) })
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(text, { level }))
  }

const picture: RequestListener = (_request, response) =>
  response.writeHead(500, { 'content-type': 'image/png' }).end('\x89PNG\0')

let underWay = 0
/** Refuses who does not come alone. */
const shedding: RequestListener = (request, response) => {
  const respond = ++underWay > 1 ? saying('busy', 503) : saying('x')
  setTimeout(() => {
    underWay--
    respond(request, response)
  }, 20)
}

/** The last subject of each is the one that is refused. */
const REFUSED: [subjects: Record<string, Subject>, sentence: RegExp][] = [
  [{ one: {}, exit: { absent: 'it ended' } }, /^exit did not start: it ended\.$/],
  [
    { before: {}, other: { respond: saying('other') } },
    /^before and other send different bodies: after "", before has "x" and other "other"\. Equal work comes first: if one was still starting, name a --ready-path; if the difference is meant, add --different-responses\.$/,
  ],
  [
    { before: {}, created: { respond: saying('x', 201) } },
    /^before responds with status 200, created with 201\. Equal work comes first/,
  ],
  [
    { broken: { respond: saying('no database', 500) } },
    /^broken responds to GET \/ with status 500 and "no database", and 2xx was expected: see --path, /,
  ],
  [
    { picture: { respond: picture } },
    /^picture responds to GET \/ with status 500 and 6 bytes of image\/png, and 2xx was expected/,
  ],
  [
    { random: { respond: random } },
    /^\d+ % of the bytes that random sends for GET \/ differ from response to/,
  ],
  [
    { mortal: { errors: { reset: 3 }, ended: 'it ended with exit code 7' } },
    /^mortal cannot be raced \(GET \/\): it ended with exit code 7\.$/,
  ],
  [
    { failing: { respond: later(saying('x'), saying('x', 500)), errors: { status: 9 } } },
    /^failing cannot be raced \(GET \/\): 9 of 1,000 requests failed \(9 status\); it now responds with status 500: "x"\.$/,
  ],
  [
    { shedding: { respond: shedding, errors: { status: 9 } } },
    /^shedding cannot .*; it now responds with status 503: "busy"\.$/,
  ],
  [
    { starting: { respond: later(saying('starting'), saying('hello')), errors: { body: 9 } } },
    /^starting cannot .*; at first it responded "starting", and later "hello": if it was still starting, --ready-path says/,
  ],
  [
    { few: { keeps: 8, errors: { status: 1, reset: 24 } } },
    /^few cannot be raced \(GET \/\): .*; it keeps only 8 of 32 connections open: try -c 8\.$/,
  ],
]
for (const [subjects, sentence] of REFUSED)
  test(`${Object.keys(subjects).at(-1)} is refused with a sentence`, async (context) => {
    await rejects(run(context, subjects), (error: Error) => {
      match(error.message, sentence)
      return error instanceof PilotError
    })
  })

test('what changes each second is masked, what changes later is learnt when a load meets it, and is compared no longer', async (context) => {
  const subjects = { before: { respond: clock(), errorsOnce: { body: 9 } }, after: { respond: clock() } }
  const { found } = await run(context, subjects)
  for (const { masked } of found?.record.systems ?? []) equal(masked, 2)
  const { before, after } = found?.race.workloads ?? {}
  deepEqual(before?.expect, { includes: [`,"text":"${'the same'.repeat(20)}"}`, ',"cached"', '{"up"'] })
  deepEqual(after?.expect, { includes: [`,"cached":1,"text":"${'the same'.repeat(20)}"}`, '{"up"'] })
})

test('bodies are compared as they were before they were compressed, also under load', async (context) => {
  const subjects = { fast: { respond: compressed(1) }, small: { respond: compressed(9) } }
  const { found } = await run(context, subjects)
  equal(found?.record.difference, null)
  const { expect } = found?.race.workloads?.small ?? {}
  const checker = new Checker({ body: expect ?? {} }, 1)
  const verdict = (text: string) => {
    const body = gzipSync(text)
    return checker.verdict({ status: 200, bodyLength: body.length }, body, 0)
  }
  deepEqual([verdict(`{"id":1,"text":"${'the same'.repeat(99)}"}`), verdict('{"id":1}')], [undefined, 'body'])
})

test('with --why, a server that does not load the profiler is refused before the race', async (context) => {
  const message =
    /^Functions can be named only for servers whose process loads our profiler .*; before did not\.$/
  await rejects(run(context, { before: {}, bun: {} }, { needsProfiler: true }), {
    name: 'UsageError',
    message,
  })
})

test('equal work is what stays the same, also of a mixture of paths; other work that is meant is told', async (context) => {
  const alike = { before: { respond: ids }, after: { respond: ids } }
  const { found } = await run(context, alike, { paths: ['/a', '/b'] })
  const [before, after] = found?.record.systems ?? []
  ok(before && after && before.masked > 16 && after.masked > 16)
  deepEqual([found?.record.difference, found?.record.decides], [null, 'rate'])
  for (const { mix } of Object.values(found?.race.workloads ?? {}))
    equal(mix?.map(({ path }) => path).join(), '/a,/b')
  const other = await run(context, { before: {}, other: { respond: saying('other') } }, { different: true })
  equal(other.found?.record.difference, 'before and other send different bodies')
  match(other.said.join('\n'), /^before and other send different bodies: after "", before has "x" and /m)
})

describe('what fits into --max-time', () => {
  const plan = (heats: number, warmupMs: number, rate?: number) => {
    const systems = ['before', 'after'].map((name) => ({ name }))
    const experiment = createRace({ systems, requests: [{ path: '/' }], connections: 32, rate })
    const result = createStudyResult(experiment, { profile: 'full', heats, seed: 1 }, '')
    Object.assign(result.settings, RACE_SETTINGS)
    for (const cell of result.cells) cell.warmupMs = warmupMs
    const paceOf = (openRate: number, startMs = 0, capacity?: number) => {
      const rates = new Map<string, number>()
      if (capacity !== undefined) for (const { id } of result.cells) rates.set(id, capacity)
      return new Map([['GET /', { startMs, rates, openRate }]])
    }
    return { result, paceOf }
  }

  const startsIn = (seconds: number, pace: [openRate: number, startMs?: number, capacity?: number]) => {
    const { result, paceOf } = plan(10, 500)
    const said = planStarts(result, { paces: paceOf(...pace), leftMs: seconds * 1000, fillsTime: true })
    const { heats, slices, looks, openLoop } = result.settings
    return { heats, slices, looks, said: said.length, hasLatency: openLoop !== null }
  }

  test('are as many starts as there is time for, with looks; fast servers need less for a latency', () => {
    const three = startsIn(180, [10_000])
    deepEqual(three, { heats: 29, slices: 32, looks: [5, 10, 29], said: 0, hasLatency: true })
    const [fast, slow] = [startsIn(300, [10_000]).heats, startsIn(300, [50]).heats]
    ok(fast > slow && slow > 30, `${fast} and ${slow}`)
    equal(startsIn(3000, [10_000]).heats, 100)
    // 40 s for both to start, or responses of 4 s.
    ok(startsIn(900, [10_000, 40_000]).heats < 22)
    ok(startsIn(900, [10, 0, 8]).heats < 40)
  })

  test('are shorter starts where ten would not fit, and none where five do not', () => {
    const short = startsIn(50, [10_000])
    ok(short.heats === 10 && short.slices < 32, JSON.stringify(short))
    throws(() => startsIn(20, [10_000, 10_000]), {
      name: 'PilotError',
      message: /^Only 1 start of each system would fit into --max-time, because one takes \d+ s, and 5 are/,
    })
  })

  test('are latencies, if a verdict leaves time for them or a rate was asked for', () => {
    const fitsIn = (seconds: number, heats = 5, rate?: number) => {
      const { result, paceOf } = plan(heats, 1250, rate)
      return fitsLatencies(seconds * 1000, result, paceOf(10_000))
    }
    // 27 s are five starts, and one more has to fit.
    deepEqual([fitsIn(27), fitsIn(30), fitsIn(27, 5, 100), fitsIn(27, 2)], [false, true, true, true])
  })
})
