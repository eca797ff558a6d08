import { deepEqual, doesNotMatch, equal, match } from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { test } from 'node:test'
import { pino } from 'pino'
import {
  createLogger,
  isClientAbort,
  logFailure,
  logResponse,
  logsResponses,
  readTraceId,
} from '../../src/process/log.ts'

function record(level: string) {
  const lines: Record<string, unknown>[] = []
  const log = pino({ level, base: null, timestamp: false }, { write: (text) => lines.push(JSON.parse(text)) })
  return { log, lines }
}

const RESPONSE = { requestId: 'r-1', method: 'GET', route: '/teas/:slug', status: 200, client: '203.0.113.7' }

test('one line per response: milliseconds to the microsecond, and no query', () => {
  const { log, lines } = record('info')
  logResponse(log, { ...RESPONSE, url: '/teas/a?b=c', ms: 1.23456 })
  deepEqual(lines, [{ level: 30, ...RESPONSE, path: '/teas/a', ms: 1.235, msg: 'request completed' }])
})

test('a line of the app has the same fields in the same order, with those of the logger before them', () => {
  const texts: string[] = []
  const log = createLogger('node/hello', { logLevel: 'info' }, { write: (text) => texts.push(text) })
  const { requestId, ...rest } = RESPONSE
  logResponse(log.child({ requestId }), { ...rest, url: '/"\u2028', ms: 1, client: undefined })
  const [text = ''] = texts
  const { time, ...fields } = JSON.parse(text)
  equal(typeof time, 'number')
  const path = '/"\u2028'
  deepEqual(
    Object.entries(fields),
    Object.entries({
      level: 30,
      app: 'node/hello',
      requestId,
      method: 'GET',
      path,
      route: '/teas/:slug',
      status: 200,
      ms: 1,
      msg: 'request completed',
    }),
  )
  equal(text.endsWith('}\n'), true)
})

test('a client that is not an address is not logged', () => {
  const { log, lines } = record('info')
  for (const client of ['2001:db8::1', 'unknown', '', undefined])
    logResponse(log, { ...RESPONSE, url: '/teas/a', ms: 1, client })
  deepEqual(
    lines.map(({ client }) => client),
    ['2001:db8::1', undefined, undefined, undefined],
  )
})

test('a request, a response and headers that code logs have no query and no credentials', () => {
  const lines: Record<string, unknown>[] = []
  const log = createLogger(
    'fastify/hello',
    { logLevel: 'info' },
    { write: (text) => lines.push(JSON.parse(text)) },
  )
  const secrets = {
    Authorization: 'Bearer s',
    cookie: 'a=s',
    'set-cookie': ['a=s'],
    'proxy-authorization': 's',
  }
  const request = { method: 'GET', url: '/teas/a?token=s', headers: secrets }
  log.info({ req: request, res: { statusCode: 200, headers: secrets } })
  log.info({ request: new Request('http://a.test/b?token=s'), response: new Response('', { status: 201 }) })
  log.info({ headers: { ...secrets, accept: 'text/html' } })
  log.info({ headers: new Headers({ authorization: 's', accept: 'text/html' }) })
  log.child({ req: request }).info('child')
  deepEqual(
    lines.map(({ level, time, app, ...fields }) => fields),
    [
      { req: { method: 'GET', path: '/teas/a' }, res: { status: 200 } },
      { request: { method: 'GET', path: 'http://a.test/b' }, response: { status: 201 } },
      { headers: { accept: 'text/html' } },
      { headers: { accept: 'text/html' } },
      { req: { method: 'GET', path: '/teas/a' }, msg: 'child' },
    ],
  )
})

test('an error of the parser is logged without the packet, also within another one', () => {
  const lines: string[] = []
  const log = createLogger('koa/hello', { logLevel: 'info' }, { write: (text) => lines.push(text) })
  const parserError = () =>
    Object.assign(new Error('Parse Error'), { code: 'HPE_X', rawPacket: Buffer.from('s') })
  log.error({ err: parserError() }, 'failed')
  log.error(Object.assign(new Error('outer'), { inner: parserError() }))
  log.child({ requestId: 'r-1' }).error(new AggregateError([parserError()]))
  for (const line of lines) {
    match(line, /HPE_X/)
    doesNotMatch(line, /rawPacket/)
  }
})

test('responses can be observed, also where they are not logged', () => {
  const { log, lines } = record('warn')
  const seen: unknown[] = []
  const see = (message: unknown) => void seen.push(message)
  subscribe('app:response', see)
  equal(logsResponses(log), true)
  const response = { ...RESPONSE, url: '/teas/a', ms: 1 }
  logResponse(log, response)
  unsubscribe('app:response', see)
  equal(logsResponses(log), false)
  deepEqual([seen, lines], [[response], []])
})

test('the trace id of a valid traceparent only', () => {
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
  const parent = '00f067aa0ba902b7'
  equal(readTraceId(`00-${trace}-${parent}-01`), trace)
  equal(readTraceId(`cc-${trace}-${parent}-01-what-the-future-brings`), trace)
  for (const bad of [
    '',
    trace,
    `00-${trace}-${parent}`,
    `00-${trace}-${parent}-01-more`,
    `ff-${trace}-${parent}-01`,
    `00-${trace.toUpperCase()}-${parent}-01`,
    `00-${'0'.repeat(32)}-${parent}-01`,
    `00-${trace}-${'0'.repeat(16)}-01`,
    `00-${trace}-${parent}-01, 00-${trace}-${parent}-01`,
  ])
    equal(readTraceId(bad), undefined, bad)
})

test('a failure has its cause and the id of its request', () => {
  const { log, lines } = record('info')
  logFailure(log, 'r-1', new Error('why'))
  const [{ level, requestId, err, msg } = {}, ...others] = lines
  deepEqual([level, requestId, msg, others], [50, 'r-1', 'failed', []])
  equal((err as Error).message, 'why')
})

test('knows whether responses are logged at all', () => {
  equal(logsResponses(record('info').log), true)
  equal(logsResponses(record('debug').log), true)
  equal(logsResponses(record('warn').log), false)
})

test('a client that left is no failure', () => {
  for (const code of ['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE', 'HPE_INVALID_CHUNK_SIZE'])
    equal(isClientAbort(Object.assign(new Error('x'), { code })), true)
  for (const error of [
    new Error('x'),
    Object.assign(new Error('x'), { code: 'ENOENT' }),
    { code: 'EPIPE' },
    'EPIPE',
    null,
  ])
    equal(isClientAbort(error), false)
})
