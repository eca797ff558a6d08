import { deepEqual, equal, throws } from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { z } from 'zod'
import { Settings } from '../src/config.ts'
import { onFile } from '../src/files.ts'
import { readForwarded } from '../src/forwarded.ts'
import { parseRequest, toProblem } from '../src/problem.ts'
import { traceId } from '../src/request-id.ts'

/** What a request tells, and what a response may. The tests of the apps have the rest, and the suite what is kept of a request id. */

test('the trace id of a traceparent', () => {
  const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
  equal(traceId(`00-${trace}-00f067aa0ba902b7-01`), trace)
  for (const bad of ['', trace, `00-${trace.toUpperCase()}-00f067aa0ba902b7-01`, undefined])
    equal(traceId(bad), undefined)
})

test('scheme and host are what the last proxy says, if it is trusted', () => {
  const { TRUST_PROXY } = Settings.parse({ TRUST_PROXY: '10.0.0.0/8' })
  const headers = {
    host: 'app.internal',
    'x-forwarded-proto': 'http, https',
    'x-forwarded-host': 'forged.example, shop.example',
  }
  const own = { scheme: 'http', host: 'app.internal' }
  for (const [remoteAddress, trusts, expected] of [
    ['10.0.0.1', TRUST_PROXY, { scheme: 'https', host: 'shop.example' }],
    ['198.51.100.1', TRUST_PROXY, own],
    ['10.0.0.1', false, own],
    [undefined, TRUST_PROXY, own], // on a unix socket
  ] as const) {
    const request = { headers, socket: { remoteAddress } } as unknown as IncomingMessage
    deepEqual(readForwarded(request, trusts), { client: remoteAddress, ...expected })
  }
  const empty = { headers: { host: 'a', 'x-forwarded-proto': '', 'x-forwarded-host': '' } }
  const { host, scheme } = readForwarded({ ...empty, socket: { remoteAddress: '10.0.0.1' } }, TRUST_PROXY)
  deepEqual([host, scheme], ['a', 'http'])
})

test('of an error with `expose`, a client gets the status, and below 500 what the message says; of any other, nothing', () => {
  for (const [members, status, detail] of [
    [{ status: 409, expose: true }, 409, 'why'],
    [{ status: 409, expose: false }, 409, undefined],
    [{ statusCode: 413, expose: true }, 413, 'why'],
    [{ status: 503, expose: true }, 503, undefined],
    [{ status: 404, expose: true, syscall: 'open' }, 404, undefined], // the message names a path of the server
    [{ status: 404, expose: true, message: 'Not Found' }, 404, undefined], // what http-errors has by default
    [{ status: 401 }, 500, undefined], // of an upstream service
    [{ status: 200, expose: true }, 500, undefined],
    [{ status: '404', expose: 'yes' }, 500, undefined],
  ] as const) {
    const { problem, ...response } = toProblem(Object.assign(new Error('why'), members))
    deepEqual([response.status, problem.status, problem.detail], [status, status, detail])
  }
  for (const thrown of ['not found', 404, null, undefined]) equal(toProblem(thrown).status, 500)
})

test('the fields that Zod refuses are named', () => {
  const Tea = z.object({ tea: z.object({ name: z.string() }) })
  const isTold = (error: unknown) => {
    const { status, problem } = toProblem(error)
    deepEqual([status, problem.detail, problem.errors?.[0]?.field], [400, undefined, 'tea.name'])
    return true
  }
  throws(() => parseRequest(Tea, { tea: {} }), isTold)
  equal(toProblem(Tea.safeParse({}).error).status, 500) // what another service sent
})

test('of a file: what begins with a dot is not there, a suffix may be longer than it, and HEAD has no ranges', () => {
  const open = (path: string, method = 'GET', range = 'bytes=-5') => {
    const request = { method, headers: { range } } as unknown as IncomingMessage
    onFile('/srv/.app', request)(`/srv/.app/${path}`, { size: 4 })
    return request.headers.range
  }
  deepEqual([open('a'), open('a', 'HEAD'), open('a', 'GET', 'bytes=-4')], [undefined, undefined, 'bytes=-4'])
  equal(open('.well-known/a'), undefined)
  for (const path of ['.env', 'a/.git/b', '.well-known/.b', '.well-known'])
    throws(() => open(path), /Not Found/, path)
})
