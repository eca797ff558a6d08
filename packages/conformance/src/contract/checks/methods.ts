import { chunked } from '../../http/chunked.ts'
import type { Header } from '../../http/header.ts'
import type { Check } from '../check.ts'
import {
  type Expectation,
  optionsOfGet,
  otherMethod,
  refused,
  unknownPath,
  unreadBody,
} from '../expectation.ts'
import type { Probe } from '../probe.ts'
import { knownPaths, UNKNOWN_PATH } from '../route.ts'

const METHODS = ['POST', 'PUT', 'PATCH', 'DELETE']

/** A valid JSON body. */
const JSON_BODY: { headers: readonly Header[]; body: string } = {
  headers: [['content-type', 'application/json']],
  body: '{"a":1}',
}

/** Bodies that a framework might parse or reject before it looks at the method. */
const BODIES: readonly (typeof JSON_BODY)[] = [
  JSON_BODY,
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
    name: 'another method on a known path is 405 or 404',
    async run(probe) {
      for (const target of await knownPaths(probe)) {
        await probe.expectEach(
          METHODS.map((method) => ({ method, target })),
          otherMethod(),
        )
        await probe.expect({ method: 'PROPFIND', target }, otherMethod())
        await probe.expect({ method: 'TRACE', target }, trace(probe))
      }
    },
  },
  {
    name: 'another method on a known path fails, whatever its body',
    async run(probe) {
      const choices = [...otherMethod(), ...unreadBody()]
      for (const target of await knownPaths(probe)) {
        await probe.expectEach(
          BODIES.map((body) => ({ method: 'POST', target, ...body })),
          choices,
        )
        for (const method of ['PUT', 'PATCH', 'DELETE']) {
          await probe.expect({ method, target, ...BODIES[1] }, choices)
        }
      }
    },
  },
  {
    name: 'a chunked body of another method is read or refused',
    async run(probe) {
      const headers = [['transfer-encoding', 'chunked'] as const]
      const body = chunked(Buffer.from('{"a":'), 2)
      for (const target of await knownPaths(probe)) {
        await probe.expect({ method: 'POST', target, headers, body }, [...otherMethod(), ...unreadBody()])
      }
    },
  },
  {
    name: 'another method on an unknown path is 404',
    async run(probe) {
      const targets = [UNKNOWN_PATH, '/LIVEZ', '/livez/', '//livez']
      for (const method of [...METHODS, 'OPTIONS', 'PROPFIND']) {
        await probe.expectEach(
          targets.map((target) => ({ method, target })),
          unknownPath(method),
        )
      }
      const choices = [...unknownPath('POST'), ...unreadBody()]
      for (const body of BODIES)
        await probe.expect({ method: 'POST', target: UNKNOWN_PATH, ...body }, choices)
    },
  },
  {
    name: 'OPTIONS on a known path names its methods, or is a method like others',
    async run(probe) {
      const preflight: Header[] = [
        ['origin', 'http://example.com'],
        ['access-control-request-method', 'POST'],
        ['access-control-request-headers', 'content-type'],
      ]
      for (const target of await knownPaths(probe)) {
        await probe.expect({ method: 'OPTIONS', target }, optionsOfGet())
        await probe.expect({ method: 'OPTIONS', target, headers: preflight }, optionsOfGet())
        await probe.expect({ method: 'OPTIONS', target, ...JSON_BODY }, [...optionsOfGet(), ...unreadBody()])
      }
    },
  },
]

/** NGINX may refuse TRACE before it looks at the path, as RFC 9110 section 9.3.8 allows. */
function trace({ subject }: Probe): Expectation[] {
  return [...otherMethod(), ...(subject.session.proxied ? [refused(405)] : [])]
}
