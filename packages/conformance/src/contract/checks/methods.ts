import { chunked } from '../../http/chunked.ts'
import type { Header } from '../../http/header.ts'
import type { Check } from '../check.ts'
import { allowed, methodNotAllowed, problemOf, refused } from '../expectation.ts'
import { knownPaths, UNKNOWN_PATH } from '../route.ts'

const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND']

/** Bodies that a framework might parse, refuse or choke on before it looks at the method. */
const BODIES: readonly { headers: readonly Header[]; body: string }[] = [
  { headers: [['content-type', 'application/json']], body: '{"a":1}' },
  { headers: [['content-type', 'application/json']], body: '{"a":' },
  { headers: [['content-type', 'application/json']], body: '' },
  { headers: [['content-type', 'application/x-www-form-urlencoded']], body: 'a=1&b=%zz' },
  { headers: [['content-type', 'multipart/form-data; boundary=x']], body: '--x\r\n' },
  { headers: [['content-type', 'text/plain; charset=utf-99']], body: 'text' },
  { headers: [['content-type', 'application/x-nobody-knows']], body: '\x00\x01' },
  { headers: [['content-type', 'not a type']], body: 'text' },
  { headers: [['content-encoding', 'br']], body: 'not brotli' },
  { headers: [], body: 'text without a type' },
]

/** Lines about methods. */
export const methods: readonly Check[] = [
  {
    name: 'another method on a known path is 405',
    section: 'Everything else',
    async run(probe) {
      for (const target of await knownPaths(probe)) {
        await probe.expectEach(
          METHODS.map((method) => ({ method, target })),
          methodNotAllowed(),
        )
      }
    },
  },
  {
    name: 'TRACE is a method like others',
    section: 'Everything else',
    async run(probe) {
      // NGINX refuses it before it looks at the path, as RFC 9110 section 9.3.8 allows.
      const expected = probe.subject.session.proxied ? refused(405) : methodNotAllowed()
      for (const target of await knownPaths(probe)) await probe.expect({ method: 'TRACE', target }, expected)
    },
  },
  {
    name: 'a body does not change a 405',
    section: 'Everything else',
    async run(probe) {
      for (const target of await knownPaths(probe)) {
        await probe.expectEach(
          BODIES.map((body) => ({ method: 'POST', target, ...body })),
          methodNotAllowed(),
        )
        for (const method of ['PUT', 'PATCH', 'DELETE']) {
          await probe.expect({ method, target, ...BODIES[1] }, methodNotAllowed())
        }
      }
    },
  },
  {
    name: 'a chunked body does not change a 405',
    section: 'Everything else',
    async run(probe) {
      const headers = [['transfer-encoding', 'chunked'] as const]
      const body = chunked(Buffer.from('{"a":'), 2)
      for (const target of await knownPaths(probe)) {
        await probe.expect({ method: 'POST', target, headers, body }, methodNotAllowed())
      }
    },
  },
  {
    name: 'another method on an unknown path is 404',
    section: 'Everything else',
    async run(probe) {
      const targets = [UNKNOWN_PATH, '/LIVEZ', '/livez/', '//livez']
      for (const method of [...METHODS, 'OPTIONS']) {
        await probe.expectEach(
          targets.map((target) => ({ method, target })),
          problemOf(404),
        )
      }
      for (const body of BODIES)
        await probe.expect({ method: 'POST', target: UNKNOWN_PATH, ...body }, problemOf(404))
    },
  },
  {
    name: 'OPTIONS on a known path is 204 without a body',
    section: 'Everything else',
    async run(probe) {
      for (const target of await knownPaths(probe)) {
        await probe.expect({ method: 'OPTIONS', target }, allowed())
        await probe.expect({ method: 'OPTIONS', target, body: '{"a":1}' }, allowed())
      }
    },
  },
  {
    name: 'a CORS preflight gets nothing but the 204',
    section: 'Headers',
    async run(probe) {
      const headers: Header[] = [
        ['origin', 'http://example.com'],
        ['access-control-request-method', 'POST'],
        ['access-control-request-headers', 'content-type'],
      ]
      for (const target of await knownPaths(probe)) {
        await probe.expect({ method: 'OPTIONS', target, headers }, allowed())
      }
    },
  },
]
