import type { Connection } from '../../http/connection.ts'
import { headerValue } from '../../http/header.ts'
import type { Request } from '../../http/request.ts'
import { NoResponse } from '../../http/source.ts'
import type { Check } from '../check.ts'
import { type Expectation, otherMethod, problemOf, refused, text, unreadBody } from '../expectation.ts'
import type { Probe } from '../probe.ts'
import { plainRoute, routesOf, UNKNOWN_PATH } from '../route.ts'

/** Not hexadecimal, incomplete, not UTF-8 (overlong, surrogate, beyond Unicode, incomplete), or NUL. */
const ESCAPES = [
  ...['%', '%z', '%zz', '%2', '%g0', '%0g', '%%20', '%u0041', '%E0%A4%A', '%FF', '%C3', '%C3%28', '%80'],
  ...['%C0%80', '%C0%AF', '%E0%80%AF', '%ED%A0%80', '%F4%90%80%80', '%F8%88%80%80%80', '%00', 'a%00b'],
]

/** User information, a port that is not a number, a path, a space, and an IPv6 address with missing brackets. */
const NO_HOSTS = [
  'x@a.example',
  'a.example:http',
  'a.example/x',
  'a b',
  '::1',
  '[::1',
  'a.example:80:80',
  'a%2',
]

/** Lines about malformed requests. */
export const refusals: readonly Check[] = [
  {
    name: 'an escape that does not decode, or to NUL, is 400, 404 or data',
    async run(probe) {
      for (const start of ['/', '/livez', `${UNKNOWN_PATH}/`, ...KNOWN[probe.subject.role]]) {
        for (const end of ESCAPES) await expectText(probe, start, end)
      }
      await probe.expectEach(
        ESCAPES.map((segment) => `/${segment}/json?x`),
        undecoded(probe),
      )
    },
  },
  {
    name: 'an escape that does not decode fails with every method',
    async run(probe) {
      const targets = [`${UNKNOWN_PATH}%zz`, '/livez/%FF', '/%00']
      const choices = [...undecoded(probe), ...otherMethod(), ...unreadBody()]
      for (const method of ['POST', 'DELETE', 'HEAD']) {
        await probe.expectEach(
          targets.map((target) => ({ method, target })),
          choices,
        )
      }
      const body = { headers: [['content-type', 'application/json'] as const], body: '{"a":' }
      await probe.expect({ method: 'POST', target: '/%zz', ...body }, choices)
    },
  },
  {
    name: 'two Host headers are 400',
    async run(probe) {
      const requests = (await everyTarget(probe)).flatMap((target): Request[] => [
        { target, host: 'a.example', headers: [['host', 'a.example']] },
        { target, host: 'a.example', headers: [['Host', 'b.example']] },
      ])
      const twice: Request = { target: '/livez', host: 'a', headers: [['host', 'b']] }
      requests.push({ ...twice, method: 'POST' }, { ...twice, method: 'OPTIONS', target: UNKNOWN_PATH })
      for (const request of requests) await expectRefusal(probe, request)
    },
  },
  {
    name: 'a Host that is not a host name is 400',
    async run(probe) {
      for (const target of await everyTarget(probe)) {
        for (const host of NO_HOSTS) await expectRefusal(probe, { target, host })
      }
    },
  },
  {
    name: 'a fragment in the target is 400',
    async run(probe) {
      for (const target of await everyTarget(probe)) {
        for (const end of ['#', '#x', '?a#x']) await expectRefusal(probe, { target: target + end })
      }
    },
  },
  {
    name: 'a target with scheme and authority is its path',
    async run(probe) {
      for (const { target, expected } of await routesOf(probe))
        await probe.expect({ target: `http://a.example${target}`, host: 'b.example' }, expected)
      await probe.expect({ target: `HTTP://a.example${UNKNOWN_PATH}` }, problemOf(404))
    },
  },
  {
    name: 'an asterisk as the target is 400 or 404',
    run: (probe) => probe.expect({ target: '*' }, [refused(400), refused(404)]).then(() => {}),
  },
  {
    name: 'no Host is 400 in HTTP/1.1',
    async run(probe) {
      const targets = [plainRoute(probe).target, UNKNOWN_PATH]
      await probe.expectEach(
        targets.map((target) => ({ target, host: null })),
        refused(400),
      )
    },
  },
]

/** Where a parameter of a route may follow. */
const KNOWN = {
  hello: ['/hello/'],
  ssr: ['/assets/'],
  status: ['/_/'],
} as const

/** A framework may refuse, find nothing, or hand the text to the route. */
async function expectText(probe: Probe, start: string, end: string): Promise<void> {
  const greets = start === '/hello/' ? [data()] : []
  await probe.expect({ target: start + end }, [...undecoded(probe), ...greets])
}

/** Which characters stand for the bytes is the framework's choice. */
function data(): Expectation {
  const { type = '' } = text('')
  const inspect: Expectation['inspect'] = (body) =>
    /^Hello, .+!$/s.test(String(body)) ? [] : [{ expected: 'Hello, and the text', received: String(body) }]
  return { status: 200, type, headers: {}, inspect }
}

/** NGINX refuses these itself. */
function undecoded({ subject }: Probe): Expectation[] {
  return [problemOf(400), problemOf(404), ...(subject.session.proxied ? [refused(400)] : [])]
}

/** Files too, because a proxy or a file server may send them without asking the app. */
async function everyTarget(probe: Probe): Promise<string[]> {
  return [...(await routesOf(probe)).map(({ target }) => target), UNKNOWN_PATH]
}

/** The wrapper around the server refuses: 400, and then the connection is closed or as usable as before. */
async function expectRefusal(probe: Probe, request: Request): Promise<void> {
  await probe.attempt(request, () =>
    probe.connected(async (connection) => {
      const response = await connection.exchange(request)
      probe.judge(request, response, refused(400))
      if (response.status !== 400) return
      const closes = headerValue(response.headers, 'connection')?.toLowerCase() === 'close'
      if (closes) await connection.closed()
      else await expectClosedOrUsable(probe, connection)
    }),
  )
}

/** The server may close the connection without `connection: close`. If it does not, the next request must be served. */
async function expectClosedOrUsable(probe: Probe, connection: Connection): Promise<void> {
  const { target, expected } = plainRoute(probe)
  try {
    probe.judge({ target }, await connection.exchange({ target }), expected)
  } catch (error) {
    if (!(error instanceof NoResponse) || !['closed', 'reset'].includes(error.failure)) throw error
  }
}
