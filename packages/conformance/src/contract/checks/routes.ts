import type { Check } from '../check.ts'
import { document, emptyParameter, problemOf, text } from '../expectation.ts'
import { routesOf, UNKNOWN_PATH } from '../route.ts'
import type { Role } from '../subject.ts'

/** In another case, almost a route, and routes of other roles. */
const UNKNOWN: Readonly<Record<Role, readonly string[]>> = {
  hello: [
    ...['/JSON', '/Json', '/HELLO/x', '/Hello/x', '/LIVEZ', '/Readyz'],
    ...['/jso', '/jsonx', '/json.', '/json/x', '/json;x', '/hello', '/hello/a/b', '/hello/a/', '/hello//a'],
    ...['/_/status', '/stream', '/assets/x'],
  ],
  ssr: [
    ...['/Stream', '/ASSETS/x', '/LIVEZ', '/Readyz', '/index.html', '/streams', '/stream/x', '/assets'],
    ...['/json', '/hello/x', '/_/status'],
  ],
  status: [
    ...[
      '/_/STATUS',
      '/_/Status',
      '/LIVEZ',
      '/Readyz',
      '/',
      '/_',
      '/_/',
      '/_/status/x',
      '/_/statusx',
      '/status',
    ],
    ...['/json', '/hello/x', '/stream', '/assets/x'],
  ],
}

/** Queries that no route uses, some of them not form-encoded. */
const QUERIES = [
  '',
  'x',
  'x=1&x=2',
  'x=%zz&y',
  '%',
  '?',
  'x[]=1&x[a]=2',
  '__proto__=1',
  'ITEMS=-1',
  'items[]=5',
  '&&==',
]

/** Lines about which paths exist. */
export const routes: readonly Check[] = [
  {
    name: 'every route responds',
    async run(probe) {
      for (const { target, expected } of await routesOf(probe)) await probe.expect({ target }, expected)
    },
  },
  {
    name: 'a path in another case, or almost a route, or of another role is unknown',
    run: (probe) => probe.expectEach(UNKNOWN[probe.subject.role], problemOf(404)),
  },
  {
    name: 'a path with a trailing slash is another path',
    async run(probe) {
      const paths = (await routesOf(probe)).map(({ target }) => pathOf(target)).filter((path) => path !== '/')
      await probe.expectEach(
        paths.map((path) => `${path}/`),
        problemOf(404),
      )
    },
  },
  {
    name: 'a path with a double slash is another path',
    async run(probe) {
      for (const { pattern, target, expected } of await routesOf(probe)) {
        const path = pathOf(target)
        if (path !== '/') await probe.expect({ target: `/${path}` }, problemOf(404))
        // A file server may find the file all the same, or take it for an attempt to leave its directory.
        const choices = pattern === '/assets/*' ? [problemOf(404), problemOf(403), expected] : problemOf(404)
        if (path.lastIndexOf('/') > 0) await probe.expect({ target: path.replace(/(?<=.)\//, '//') }, choices)
      }
    },
  },
  {
    name: 'an escaped letter is the same path or an unknown one',
    async run(probe) {
      for (const { pattern, target, expected } of await routesOf(probe)) {
        if (pattern === '/') continue
        const request = { target: target.replace(/[a-z]/, escapeLetter) }
        await probe.expect(request, [expected, problemOf(404)])
      }
    },
  },
  {
    name: 'a path without its last parameter is 404 or 400',
    roles: ['hello'],
    async run(probe) {
      const targets = ['/hello/', '/hello/?x']
      await probe.expectEach(targets, emptyParameter())
    },
  },
  {
    name: 'an unknown path is 404',
    async run(probe) {
      const targets = [
        UNKNOWN_PATH,
        `${UNKNOWN_PATH}?x=1`,
        '/a/b/c/d',
        '/favicon.ico',
        '/.env',
        '/:name',
        '/*',
        '/%20',
      ]
      await probe.expectEach(targets, problemOf(404))
    },
  },
  {
    name: 'an unknown query is ignored',
    async run(probe) {
      for (const { target, expected } of await routesOf(probe)) {
        const join = target.includes('?') ? '&' : '?'
        await probe.expectEach(
          QUERIES.map((query) => `${target}${join}${query}`),
          expected,
        )
      }
    },
  },
  {
    name: 'a parameter of one route is unknown to the others',
    async run(probe) {
      const { role } = probe.subject
      const targets = (await routesOf(probe)).map(({ target, expected }) => ({ target, expected }))
      for (const { target, expected } of targets.filter(({ target }) => !target.includes('?'))) {
        await probe.expect({ target: `${target}?items=-1&delay=x` }, expected)
      }
      if (role === 'ssr') await probe.expect({ target: '/?items=3&delay=x' }, document(3))
      if (role === 'hello') await probe.expect({ target: '/?items=-1' }, text('Hello World!'))
    },
  },
]

/** RFC 3986 section 6.2.2.2: `%6A` means the same as `j`. */
function escapeLetter(letter: string): string {
  return `%${letter.charCodeAt(0).toString(16).toUpperCase()}`
}

function pathOf(target: string): string {
  return target.split('?', 1)[0] ?? target
}
