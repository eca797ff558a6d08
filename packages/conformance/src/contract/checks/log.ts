import { setTimeout as sleep } from 'node:timers/promises'
import type { Request } from '@startgrid/wire/request.ts'
import { otherMethod, problem } from '../expectation.ts'
import { differ } from '../finding.ts'
import type { Check, Probe } from '../probe.ts'
import { plainRoute, UNKNOWN_PATH } from '../route.ts'

/** One line of the access log. */
type Line = Readonly<Record<string, unknown>>

/** In headers that identify a client; no line may contain it. */
const CREDENTIAL = 'c0nf0rmance-secret'

/** Lines about the access log. They need a caller that can read it. */
export const log: readonly Check[] = [
  {
    name: 'every response has one line in the log, without its query',
    async run(probe) {
      const { target, expected } = plainRoute(probe)
      const known = { target: `${target}?secret=1` }
      const posted = { method: 'POST', target }
      const unknown = { target: `${UNKNOWN_PATH}?secret=1` }
      // A line may wait for others before it is written: all requests wait once.
      await probe.expect(identified(known, 'logged-get'), expected)
      const refusal = await probe.expect(identified(posted, 'logged-post'), otherMethod())
      await probe.expect(identified(unknown, 'logged-404'), problem(404))
      await expectLine(probe, known, 'logged-get', { method: 'GET', path: target, status: 200 })
      const { status } = refusal ?? {}
      await expectLine(probe, posted, 'logged-post', { method: 'POST', path: target, status })
      await expectLine(probe, unknown, 'logged-404', { method: 'GET', path: UNKNOWN_PATH, status: 404 })
    },
  },
  {
    name: 'the log has the route as it is registered',
    async run(probe) {
      const target = probe.subject.role === 'hello' ? '/hello/somebody' : plainRoute(probe).target
      await probe.connected((connection) => connection.exchange(identified({ target }, 'logged-route')))
      const [line] = await linesOf(probe, 'logged-route')
      const route = line?.route
      const start = target.replace('somebody', '')
      if (typeof route === 'string' && route.startsWith(start) && !route.includes('somebody')) return
      const expected = 'the route as it is registered, such as /hello/:name'
      probe.report({ target }, differ(expected, `route: ${JSON.stringify(route)}`))
    },
  },
  {
    name: 'the log has no credentials',
    async run(probe) {
      const { target, expected } = plainRoute(probe)
      const headers: Request['headers'] = [
        ['authorization', `Bearer ${CREDENTIAL}`],
        ['cookie', `session=${CREDENTIAL}`],
      ]
      await probe.expect(identified({ target, headers }, 'logged-credentials'), expected)
      await linesOf(probe, 'logged-credentials')
      const lines = probe.subject.log?.().split('\n') ?? []
      const line = lines.find((one) => one.includes(CREDENTIAL))
      if (line !== undefined) probe.report({ target, headers }, differ('no credentials in the log', line))
    },
  },
  {
    name: 'a response that the client did not wait for has a line in the log',
    roles: ['ssr'],
    needs: 'stream',
    async run(probe) {
      const request = { target: '/stream?items=1&delay=2000' }
      await probe.connected(async (connection) => {
        connection.send(identified(request, 'logged-abort'))
        await connection.head()
      })
      await expectLine(probe, request, 'logged-abort', { method: 'GET', path: '/stream' })
    },
  },
  {
    name: 'probes are not logged',
    async run(probe) {
      for (const target of ['/livez', '/readyz'])
        await probe.connected((connection) => connection.exchange(identified({ target }, 'logged-probe')))
      const after = identified({ target: plainRoute(probe).target }, 'logged-after-probes')
      await probe.connected((connection) => connection.exchange(after))
      await linesOf(probe, 'logged-after-probes')
      for (const line of readLines(probe, 'logged-probe'))
        probe.report({ target: '/livez' }, differ('no line in the log', JSON.stringify(line)))
    },
  },
]

function identified(request: Request, id: string): Request {
  return { ...request, headers: [...(request.headers ?? []), ['x-request-id', id]] }
}

/** That there is one line for a request, with these fields and those of all lines. */
async function expectLine(probe: Probe, request: Request, id: string, fields: Line): Promise<void> {
  const [line, ...others] = await linesOf(probe, id)
  if (line === undefined || others.length > 0) {
    const received = line === undefined ? 'none' : `${others.length + 1} lines`
    return probe.report(request, differ(`one line in the log with the requestId ${id}`, received))
  }
  const text = JSON.stringify(line)
  const wrong = Object.keys(fields).filter((name) => line[name] !== fields[name])
  if (typeof line.ms !== 'number' || line.ms < 0) wrong.push('ms')
  if (typeof line.client !== 'string') wrong.push('client')
  for (const name of wrong) {
    const right = name in fields ? `: ${fields[name]}` : ''
    probe.report(request, differ(`a right ${name} in the log${right}`, text))
  }
  if (text.includes('secret=1')) probe.report(request, differ('no query in the log', text))
}

/** Waits until there is a line, and a little longer for a second one. */
async function linesOf(probe: Probe, id: string): Promise<Line[]> {
  const end = performance.now() + probe.subject.timeoutMs
  while (readLines(probe, id).length === 0 && performance.now() < end) await sleep(10)
  await sleep(20)
  return readLines(probe, id)
}

function readLines({ subject }: Probe, id: string): Line[] {
  const text = subject.log?.() ?? ''
  return text.split('\n').flatMap((line) => {
    // Only whole lines are read: the last one may still be written.
    if (!line.startsWith('{') || !line.endsWith('}') || !line.includes(id)) return []
    const fields = JSON.parse(line) as Line
    return fields.requestId === id && 'status' in fields ? [fields] : []
  })
}
