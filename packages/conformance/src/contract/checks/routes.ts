import type { Request } from '@startgrid/wire/request.ts'
import { document, type Expectation, otherMethod, problem, text } from '../expectation.ts'
import { describeRequest } from '../finding.ts'
import type { Check, Probe, Role } from '../probe.ts'
import { routesOf, UNKNOWN_PATH } from '../route.ts'

/** Almost a route, and routes of other roles. */
const UNKNOWN: Readonly<Record<Role, readonly string[]>> = {
  hello: ['/jso', '/jsonx', '/json/x', '/hello', '/hello/a/b', '/_/status', '/stream', '/assets/x'],
  ssr: ['/index.html', '/streams', '/stream/x', '/json', '/hello/x', '/_/status'],
  status: ['/', '/_', '/_/status/x', '/_/statusx', '/status', '/json', '/hello/x', '/stream', '/assets/x'],
}

/** Queries that no route uses. */
const QUERIES = ['x', 'x=1&x=2', 'x=%20', '__proto__=1', 'ITEM=-1']

/** Names as sent, and their decoded values. */
const NAMES: readonly (readonly [sent: string, meant: string])[] = [
  ['World', 'World'],
  ['%57orld', 'World'],
  ['J%C3%BCrgen', 'Jürgen'],
  ['J%c3%bcrgen', 'Jürgen'],
  ['%F0%9F%8D%B5', '🍵'],
  ['%E5%B1%B1%E7%94%B0', '山田'],
  ['a%20b', 'a b'],
  ['%3Cb%3E', '<b>'],
  ['a%3Fb', 'a?b'],
  ['a%23b', 'a#b'],
  ["~-._!$&'()*,;=:@", "~-._!$&'()*,;=:@"],
  ['constructor', 'constructor'],
  ['__proto__', '__proto__'],
  // A plus is a plus, and what was decoded is not decoded again.
  ['a+b', 'a+b'],
  ['100%25', '100%'],
  ['%2541', '%41'],
]

/** Bodies that a framework might parse or reject before it looks at the method. */
const BODIES: readonly Pick<Request, 'headers' | 'body'>[] = [
  { headers: [['content-type', 'application/json']], body: '{"a":1}' },
  { headers: [['content-type', 'application/json']], body: '{"a":' },
  { headers: [['content-type', 'application/x-www-form-urlencoded']], body: 'a=1&b=%zz' },
  { headers: [['content-type', 'text/plain; charset=utf-99']], body: 'text' },
  { headers: [['content-type', 'application/x-nobody-knows']], body: '\x00\x01' },
  { headers: [['content-encoding', 'br']], body: 'not brotli' },
]

/** Lines about which routes exist, and what else is refused. */
export const routes: readonly Check[] = [
  {
    name: 'every route responds',
    async run(probe) {
      for (const { target, expected } of await routesOf(probe)) await probe.expect({ target }, expected)
    },
  },
  {
    name: 'a name is percent-decoded as UTF-8, once',
    roles: ['hello'],
    async run(probe) {
      for (const [sent, meant] of NAMES)
        await probe.expect({ target: `/hello/${sent}` }, text(`Hello, ${meant}!`))
    },
  },
  {
    name: 'a name is not empty',
    roles: ['hello'],
    run: (probe) => probe.expectEach(['/hello/'], problem(400, 404)),
  },
  {
    name: 'an unknown path is 404',
    async run(probe) {
      const { role, absent } = probe.subject
      const lacking = absent.map((capability) => `/${capability}`)
      const targets = [UNKNOWN_PATH, '/a/b/c/d', '/favicon.ico', '/.env', '/:name', '/*', '/%20']
      await probe.expectEach([...targets, ...UNKNOWN[role], ...lacking], problem(404))
    },
  },
  {
    name: 'a query that the route does not know is ignored',
    async run(probe) {
      for (const { target, expected } of await routesOf(probe)) {
        const join = target.includes('?') ? '&' : '?'
        const queries = target.includes('?') ? QUERIES : [...QUERIES, 'items=-1&delay=x']
        for (const query of queries) await probe.expect({ target: target + join + query }, expected)
      }
      if (probe.subject.role === 'ssr') await probe.expect({ target: '/?items=3&delay=x' }, document(3))
    },
  },
  {
    name: 'another method is 404, 405 or 501',
    async run(probe) {
      for (const { target } of [...(await routesOf(probe)), { target: UNKNOWN_PATH }])
        for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
          await probe.expect({ method, target }, otherMethod())
    },
  },
  {
    name: 'another method fails, whatever its body',
    async run(probe) {
      for (const { target } of [...(await routesOf(probe)), { target: UNKNOWN_PATH }])
        for (const body of BODIES)
          await probe.expect({ method: 'POST', target, ...body }, problem(400, 404, 405, 415, 501))
    },
  },
  {
    name: 'HEAD is GET without the body',
    async run(probe) {
      for (const { target, expected } of await routesOf(probe)) await compareHead(probe, target, expected)
      await compareHead(probe, UNKNOWN_PATH, problem(404))
    },
  },
]

/** HEAD, and on the same connection a GET, which shows whether the response to HEAD really had no body. */
async function compareHead(probe: Probe, target: string, expected: Expectation): Promise<void> {
  const head = { method: 'HEAD', target }
  await probe.connected(async (connection) => {
    const response = await probe.expect(head, expected, connection)
    if (response === undefined) return
    await probe.attempt(`GET after ${describeRequest(head)}`, async () =>
      probe.judge({ target }, await connection.exchange({ target }), expected),
    )
  })
}
