import type { Request } from '../../http/request.ts'
import type { Check } from '../check.ts'
import { type Expectation, problemOf, refused } from '../expectation.ts'
import type { Probe } from '../probe.ts'
import { plainRoute, routesOf, UNKNOWN_PATH } from '../route.ts'

/** Not hex, cut off, not UTF-8 (overlong, surrogate, beyond Unicode, cut off), NUL. */
const ESCAPES = [
  ...['%', '%z', '%zz', '%2', '%g0', '%0g', '%%20', '%u0041', '%E0%A4%A', '%FF', '%C3', '%C3%28', '%80'],
  ...['%C0%80', '%C0%AF', '%E0%80%AF', '%ED%A0%80', '%F4%90%80%80', '%F8%88%80%80%80', '%00', 'a%00b'],
]

/** User information, a port that is no number, a path, a space, an address without its brackets, with half of them. */
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

/** Lines about what is refused before any route is looked for. */
export const refusals: readonly Check[] = [
  {
    name: 'a malformed escape in any path is 400',
    section: 'Everything else',
    async run(probe) {
      const known =
        probe.subject.role === 'hello' ? ['/hello/'] : probe.subject.role === 'ssr' ? KNOWN_SSR : ['/_/']
      for (const start of [...known, '/', '/livez', `${UNKNOWN_PATH}/`]) {
        await probe.expectEach(
          ESCAPES.map((end) => ({ target: start + end })),
          byParser(probe),
        )
      }
      await probe.expectEach(
        ESCAPES.map((segment) => ({ target: `/${segment}/json?x` })),
        byParser(probe),
      )
    },
  },
  {
    name: 'a malformed escape precedes 404 and 405',
    section: 'Everything else',
    async run(probe) {
      const targets = [`${UNKNOWN_PATH}%zz`, '/livez/%FF', '/%00']
      for (const method of ['POST', 'DELETE', 'OPTIONS', 'HEAD']) {
        await probe.expectEach(
          targets.map((target) => ({ method, target })),
          byParser(probe),
        )
      }
      const body = { headers: [['content-type', 'application/json'] as const], body: '{"a":' }
      await probe.expect({ method: 'POST', target: '/%zz', ...body }, byParser(probe))
    },
  },
  {
    name: 'two Host headers are 400',
    section: 'Everything else',
    async run(probe) {
      const targets = [...(await routesOf(probe)).map(({ target }) => target), UNKNOWN_PATH]
      const requests = targets.flatMap((target): Request[] => [
        { target, host: 'a.example', headers: [['host', 'b.example']] },
        { target, host: 'a.example', headers: [['host', 'a.example']] },
        {
          target,
          host: 'a.example',
          headers: [
            ['accept', '*/*'],
            ['Host', 'b.example'],
          ],
        },
      ])
      await probe.expectEach(requests, byParser(probe))
    },
  },
  {
    name: 'two Host headers precede 404, 405 and 413',
    section: 'Everything else',
    async run(probe) {
      const twice: Request = { target: '/livez', host: 'a', headers: [['host', 'b']] }
      await probe.expect({ ...twice, method: 'POST' }, byParser(probe))
      await probe.expect({ ...twice, method: 'OPTIONS', target: UNKNOWN_PATH }, byParser(probe))
      const large: Request = {
        ...twice,
        headers: [
          ['host', 'b'],
          ['content-length', '65537'],
        ],
      }
      await probe.attempt(large, () => probe.despiteReset(() => expectHead(probe, large)))
    },
  },
  {
    name: 'a Host that is no host is 400',
    section: 'Everything else',
    async run(probe) {
      for (const target of [plainRoute(probe).target, UNKNOWN_PATH]) {
        await probe.expectEach(
          NO_HOSTS.map((host) => ({ target, host })),
          byParser(probe),
        )
      }
    },
  },
  {
    name: 'a fragment in the target is 400',
    section: 'Everything else',
    async run(probe) {
      const { target } = plainRoute(probe)
      await probe.expectEach(
        [`${target}#x`, `${target}?a#x`, `${UNKNOWN_PATH}#`].map((odd) => ({ target: odd })),
        byParser(probe),
      )
    },
  },
  {
    name: 'a target with scheme and authority is its path',
    section: 'Everything else',
    async run(probe) {
      for (const { target, expected } of await routesOf(probe))
        await probe.expect({ target: `http://a.example${target}`, host: 'b.example' }, expected)
      await probe.expect({ target: `HTTP://a.example${UNKNOWN_PATH}` }, problemOf(404))
    },
  },
  {
    name: 'a target that is no path is 400',
    section: 'Everything else',
    run: (probe) => probe.expectEach([{ target: '*' }, { method: 'OPTIONS', target: '*' }], refused(400)),
  },
  {
    name: 'no Host is 400 in HTTP/1.1',
    section: 'Everything else',
    async run(probe) {
      const targets = [plainRoute(probe).target, UNKNOWN_PATH]
      await probe.expectEach(
        targets.map((target) => ({ target, host: null })),
        refused(400),
      )
    },
  },
]

const KNOWN_SSR = ['/partial/', '/partial/en-US/', '/assets/']

/** NGINX refuses these itself; what a parser refuses needs only the right status. */
function byParser({ subject }: Probe): Expectation {
  return subject.session.proxied ? refused(400) : problemOf(400)
}

async function expectHead(probe: Probe, request: Request): Promise<void> {
  const answer = await probe.connected((connection) => connection.exchange(request))
  probe.judge(request, answer, byParser(probe))
}
