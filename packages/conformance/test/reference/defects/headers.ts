import { header, onPath, onStatus, withHeader } from '../alterations.ts'
import { replaceHeader } from '../message.ts'
import { type Defect, EVERY_ROUTE, hello } from './defect.ts'

const SECURITY: readonly (readonly [name: string, wrong: string])[] = [
  ['content-security-policy', "default-src 'self'"],
  ['cross-origin-opener-policy', 'unsafe-none'],
  ['cross-origin-resource-policy', 'same-site'],
  ['referrer-policy', 'origin'],
  ['x-content-type-options', 'NOSNIFF'],
]

export const headers: readonly Defect[] = [
  ...SECURITY.flatMap(([name, wrong]): Defect[] => [
    hello(`${name} missing`, EVERY_ROUTE, withHeader(name)),
    hello(`${name} wrong`, EVERY_ROUTE, withHeader(name, wrong)),
    hello(
      `${name} missing on 404 only`,
      'an unknown path is 404',
      onStatus(404, (a) => replaceHeader(a, name)),
    ),
  ]),
  hello(
    'x-content-type-options twice',
    EVERY_ROUTE,
    withHeader('x-content-type-options', 'nosniff', 'nosniff'),
  ),
  hello('x-powered-by', EVERY_ROUTE, withHeader('x-powered-by', 'Express')),
  hello('server', EVERY_ROUTE, withHeader('server', 'nginx')),
  hello('no content-type', EVERY_ROUTE, withHeader('content-type')),
  hello('another charset', EVERY_ROUTE, withHeader('content-type', 'text/plain; charset=iso-8859-1')),
  hello('content-length twice', EVERY_ROUTE, onPath('/json', header('content-length', '17', '17'))),
  hello('two spaces in a header', EVERY_ROUTE, {
    bytes: (bytes) => replaceBytes(bytes, 'date: ', 'date:  '),
  }),
  hello('lines that end in LF', EVERY_ROUTE, { bytes: (bytes) => replaceBytes(bytes, '\r\n', '\n') }),
  hello('bytes after a response', EVERY_ROUTE, {
    bytes: (bytes) => Buffer.concat([bytes, Buffer.from('\r\n')]),
  }),
  hello('another date format', EVERY_ROUTE, { bytes: (bytes) => replaceBytes(bytes, ' GMT', ' UTC') }),
]

function replaceBytes(bytes: Buffer, from: string, to: string): Buffer {
  return Buffer.from(bytes.toString('latin1').replace(from, to), 'latin1')
}
