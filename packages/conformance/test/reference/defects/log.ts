import { headerValue } from '../../../src/http/header.ts'
import { type Behaviour, CORRECT, type LogLine } from '../behaviour.ts'
import { type Defect, hello, ssr, status } from './defect.ts'

const LOGGED = 'every response has one line in the log, without its query'

export const log: readonly Defect[] = [
  hello(
    'no line for 404',
    LOGGED,
    logs((line) => (line.status === 404 ? undefined : line)),
  ),
  hello('two lines', LOGGED, { log: (line) => [line, line] }),
  hello('the query in the log', LOGGED, { log: (line, { target }) => [{ ...line, path: target }] }),
  hello('the query in another field', LOGGED, { log: (line, { target }) => [{ ...line, url: target }] }),
  hello(
    'ms as text',
    LOGGED,
    logs((line) => ({ ...line, ms: '1' })),
  ),
  hello(
    'no client',
    LOGGED,
    logs(({ client: _, ...line }) => line),
  ),
  hello(
    'another status',
    LOGGED,
    logs((line) => ({ ...line, status: 0 })),
  ),
  hello(
    'no method',
    LOGGED,
    logs(({ method: _, ...line }) => line),
  ),
  hello(
    'the path as route',
    'the log has the route as it is registered',
    logs((line) => ({ ...line, route: line.path })),
  ),
  hello('another trace id', 'the log has the trace id of the caller', {
    log: (line) => [line.trace_id === undefined ? line : { ...line, trace_id: '1'.repeat(32) }],
  }),
  hello('a trace id that is not checked', 'the log has no trace id if the traceparent is not valid', {
    log: (line, { headers }) => [{ ...line, trace_id: headerValue(headers, 'traceparent')?.split('-')[1] }],
  }),
  hello('authorization in the log', 'the log has no credentials', {
    log: (line, { headers }) => [{ ...line, authorization: headerValue(headers, 'authorization') }],
  }),
  hello('cookies in the log', 'the log has no credentials', {
    log: (line, { headers }) => [{ ...line, headers: { cookie: headerValue(headers, 'cookie') } }],
  }),
  ssr('no line for aborted responses', 'a response that the client did not wait for has a line in the log', {
    log: (line, { target }) => (target.startsWith('/stream') ? [] : [line]),
  }),
  status('probes in the log', 'probes are not logged', { log: (line) => [line] }),
]

/** Only lines for some responses matter; the rest is as it should be. */
function logs(change: (line: LogLine) => object | undefined): Partial<Behaviour> {
  return {
    log: (line, request) => CORRECT.log(line, request).flatMap((one) => change(one as LogLine) ?? []),
  }
}
