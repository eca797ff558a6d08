import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MannersRecord, SITUATIONS, type Situation } from '../src/contract/manners.ts'
import type { Role } from '../src/contract/subject.ts'
import { headerValue } from '../src/http/header.ts'
import { checkConformance, formatReport } from '../src/index.ts'
import {
  asProblem,
  decodeName,
  isOn,
  onAssets,
  onOptions,
  onPath,
  onStatus,
} from './reference/alterations.ts'
import { type Behaviour, CORRECT } from './reference/behaviour.ts'
import { type Incoming, type Outgoing, replaceBody, replaceHeader } from './reference/message.ts'
import { startReference } from './reference/server.ts'

/** A server with one allowed outcome instead of another, and what the suite must note. */
interface Alternative {
  situation: Situation
  manners: readonly string[]
  role: Role
  /** The check that meets the situation. */
  check: string
  behaviour: Partial<Behaviour>
}

const OTHER = 'another method on a known path is 405 or 404'
const UNKNOWN = 'another method on an unknown path is 404'
const OPTIONS = 'OPTIONS on a known path'
const TYPES = 'every asset has its type and may be kept'
const SPELLINGS = 'another spelling of a number is that number or 400'
const TEXT = "the route's response with that text"

const withoutAllow = (response: Outgoing) => replaceHeader(response, 'allow')

const methods: readonly Alternative[] = [
  hello('other-method', '405', OTHER, {}),
  hello(
    'other-method',
    '404',
    OTHER,
    onStatus(405, (a) => withoutAllow(asProblem(404)(a))),
  ),
  hello(
    'other-method',
    '501',
    OTHER,
    onStatus(405, (a) => withoutAllow(asProblem(501)(a))),
  ),
  hello('rare-method', '405', OTHER, {}),
  ...[404, 501].map((status) =>
    hello('rare-method', String(status), OTHER, {
      finish: (a, r) => (isOn(r, 'PROPFIND') ? withoutAllow(asProblem(status)(a)) : a),
    }),
  ),
  hello('rare-method-unknown-path', '404', UNKNOWN, {}),
  ...[405, 501].map((status) =>
    hello('rare-method-unknown-path', String(status), UNKNOWN, {
      finish: (a, r) => (isOn(r, 'PROPFIND') ? asProblem(status)(a) : a),
    }),
  ),
  hello('options', '204', OPTIONS, {}),
  hello(
    'options',
    '200',
    OPTIONS,
    onOptions((a) => replaceBody({ ...a, status: 200 }, 'GET, HEAD')),
  ),
  ...[405, 404, 501].map((status) =>
    hello('options', String(status), OPTIONS, {
      finish: (a, r) => {
        if (!isOn(r, 'OPTIONS')) return a
        const problem = asProblem(status)(a)
        return status === 405 ? problem : withoutAllow(problem)
      },
    }),
  ),
  hello('allow', 'GET, HEAD, OPTIONS', OTHER, {}),
  hello(
    'allow',
    'GET, HEAD',
    OTHER,
    onStatus(405, (a) => replaceHeader(a, 'allow', 'HEAD, GET')),
  ),
  hello('asterisk-options', '400', 'OPTIONS * is a request or refused', {}),
  ...[200, 204, 404, 405, 501].map((status) =>
    hello('asterisk-options', String(status), 'OPTIONS * is a request or refused', {
      requestLine: /^([A-Z]+) (\*|\/[\x21-\x7e]*) HTTP\/(1\.[01])$/,
      finish: (a, { target }) => (target === '*' ? asterisk(status, a) : a),
    }),
  ),
]

function asterisk(status: number, response: Outgoing): Outgoing {
  const empty = {
    ...replaceHeader(replaceHeader(response, 'content-length'), 'content-type'),
    status,
    body: Buffer.alloc(0),
  }
  if (status === 204) return empty
  return status === 200 ? replaceBody(empty, '') : asProblem(status)(response)
}

const writing: readonly Alternative[] = [
  ...['text/plain; charset=utf-8', 'text/plain;charset=utf-8', 'text/plain; charset=UTF-8'].map((type) =>
    status(
      'text-type',
      type,
      'every route responds',
      onPath('/_/status', (a) => replaceHeader(a, 'content-type', type)),
    ),
  ),
  status(
    'text-type',
    'another spelling',
    'every route responds',
    onPath('/_/status', (a) => replaceHeader(a, 'content-type', 'Text/Plain; CHARSET=utf-8')),
  ),
  ...(['with', 'without'] as const).flatMap((manner) => {
    const type = (name: string) => (manner === 'with' ? `${name}; charset=utf-8` : name)
    const set = (name: string) => (a: Outgoing) => replaceHeader(a, 'content-type', type(name))
    return [
      hello('json-charset', manner, 'every route responds', onPath('/json', set('application/json'))),
      hello(
        'problem-charset',
        manner,
        'a path in another case is another path',
        onStatus(404, set('application/problem+json')),
      ),
      hello('health-charset', manner, 'livez and readyz pass and are not stored', {
        finish: (a, { target }) =>
          /^\/(?:livez|readyz)$/.test(target) ? set('application/health+json')(a) : a,
      }),
    ]
  }),
  hello('framing', 'content-length', 'every route responds', {}),
  hello('framing', 'chunked', 'every route responds', {
    finish: (a) => ({ ...replaceHeader(a, 'content-length'), late: { ms: 0, parts: [] } }),
  }),
  hello('head-type', 'sent', 'HEAD is GET without the body', {}),
  hello('head-type', 'not sent', 'HEAD is GET without the body', {
    finish: (a, r) => (isOn(r, 'HEAD') && isText(a) ? replaceHeader(a, 'content-type') : a),
  }),
  hello('url-host', "the route's response", 'a Host that no URL may have is a host, or 400', {}),
  hello('url-host', '400', 'a Host that no URL may have is a host, or 400', {
    refuse: (r) =>
      /^(?:1\.2\.3|a:9|xn-|\[1:)/.test(headerValue(r.headers, 'host') ?? '') ? 400 : CORRECT.refuse(r),
  }),
  hello('head-length', 'sent', 'HEAD is GET without the body', {}),
  hello('head-length', 'not sent', 'HEAD is GET without the body', {
    finish: (a, r) => (isOn(r, 'HEAD') ? replaceHeader(a, 'content-length') : a),
  }),
]

const isText = ({ headers }: Outgoing) => headerValue(headers, 'content-type')?.startsWith('text/plain')

/** Two Hosts and the like stay refused. */
const lenient = (part: RegExp): Partial<Behaviour> => ({
  refuse: (r) => CORRECT.refuse({ ...r, target: r.target.replaceAll(part, 'x') }),
  decode: decodeName,
})

const BAD_ESCAPE = 'an escape that does not decode is 400, 404 or data'
const NUL = 'an escaped NUL is 400, 404 or data'
const DOTS = 'escaped dots in a name are data, or dot segments'

const EMPTY = 'a path without its last parameter is 404 or 400'
const DIRECTORY = 'the directory of the assets is 404 or 403'

const paths: readonly Alternative[] = [
  hello('empty-parameter', '404', EMPTY, {}),
  hello('empty-parameter', '400', EMPTY, onStatus(404, asProblem(400))),
  ssr('directory', '404', DIRECTORY, {}),
  ssr('directory', '403', DIRECTORY, onStatus(404, asProblem(403))),
  hello('bad-escape', '400', BAD_ESCAPE, {}),
  hello('bad-escape', '404', BAD_ESCAPE, onStatus(400, asProblem(404))),
  { ...hello('bad-escape', TEXT, BAD_ESCAPE, lenient(/%/g)), manners: ['404', TEXT] },
  hello('nul', '400', NUL, {}),
  hello('nul', '404', NUL, onStatus(400, asProblem(404))),
  { ...hello('nul', TEXT, NUL, lenient(/%00/g)), manners: ['404', TEXT] },
  hello('escaped-letter', '404', 'an escaped letter is the same path or an unknown one', {}),
  hello('escaped-letter', 'the same path', 'an escaped letter is the same path or an unknown one', {
    path: (target) => CORRECT.path(target).replace(/%[67]./, decodeURIComponent),
  }),
  hello('dot-segments', 'as sent', 'dot segments are resolved or not', {}),
  hello('dot-segments', 'resolved', 'dot segments are resolved or not', { path: resolved }),
  hello('escaped-dot-segments', 'as sent', DOTS, {}),
  hello('escaped-dot-segments', 'resolved', DOTS, { path: resolved }),
]

function resolved(target: string): string {
  return new URL(target, 'http://a').pathname
}

const NUMBERS = {
  'leading-zero': '5',
  exponent: '1000',
  signed: '5',
  'negative-zero': '0',
  padded: '5',
  'decimal-point': '5',
  hexadecimal: '16',
  empty: '0',
} as const satisfies Partial<Record<Situation, string>>

/** Reads numbers as `Number` does. */
const COERCED: Partial<Behaviour> = {
  count: (values, fallback, max) => {
    if (values.length !== 1) return CORRECT.count(values, fallback, max)
    const count = Number(values[0])
    return Number.isInteger(count) && count >= 0 && count <= max ? Math.abs(count) : undefined
  },
}

const numbers = (Object.keys(NUMBERS) as (keyof typeof NUMBERS)[]).flatMap((situation) => [
  ssr(situation, '400', SPELLINGS, {}),
  ssr(situation, NUMBERS[situation], SPELLINGS, COERCED),
])

const refuses = (status: number, when: (request: Incoming) => boolean): Partial<Behaviour> => ({
  refuse: (r) => (when(r) ? status : CORRECT.refuse({ ...r, length: 0 })),
})

const LARGE = 'a body over the limit is refused or left unread'
const LARGE_UNKNOWN = 'a body over the limit on an unknown path is 404 or refused'
const isLarge = ({ length = 0 }: Incoming) => length > 65_536

const bodies: readonly Alternative[] = [
  hello('body-on-get', 'ignored', 'a body on GET is ignored or refused', {}),
  hello(
    'large-body-on-get',
    'ignored',
    LARGE,
    refuses(400, () => false),
  ),
  hello('malformed-body', 'as without a body', 'fails, whatever its body', {}),
  hello(
    'large-body',
    'as without a body',
    LARGE,
    refuses(400, () => false),
  ),
  hello(
    'large-body-unknown-path',
    'as without a body',
    LARGE_UNKNOWN,
    refuses(400, () => false),
  ),
  ...[400, 413, 415].flatMap((code) => [
    hello(
      'body-on-get',
      String(code),
      'a body on GET is ignored or refused',
      refuses(code, (r) => isOn(r, 'GET') && r.body.length > 0),
    ),
    hello('large-body-on-get', String(code), LARGE, refuses(code, isLarge)),
    hello(
      'malformed-body',
      String(code),
      'fails, whatever its body',
      refuses(code, (r) => !isOn(r, 'GET') && r.length !== undefined),
    ),
    hello('large-body', String(code), LARGE, refuses(code, isLarge)),
    hello('large-body-unknown-path', String(code), LARGE_UNKNOWN, refuses(code, isLarge)),
  ]),
  hello('refused-connection', 'open', 'two Host headers are 400', {}),
  hello('refused-connection', 'closed', 'two Host headers are 400', {
    staysOpen: ({ status }) => status !== 400,
  }),
]

const RANGE = 'a range gets the whole asset, or the part that content-range names'
const MODIFIED = 'an asset that the client has is 304, or comes once more'

const files: readonly Alternative[] = [
  ssr('coding', 'br', 'an asset comes in a coding', {}),
  ssr('coding', 'gzip', 'an asset comes in a coding', {
    negotiate: (accepted = '') =>
      CORRECT.negotiate(accepted.includes('gzip') ? accepted.replace('br', 'x') : accepted),
  }),
  ssr('etag', 'sent', TYPES, {}),
  ssr(
    'etag',
    'not sent',
    TYPES,
    onAssets((a) => replaceHeader(a, 'etag')),
  ),
  ssr('not-modified', '304', MODIFIED, {}),
  ssr('not-modified', '200', MODIFIED, { matches: () => false }),
  ssr('last-modified', 'not sent', TYPES, {}),
  ssr(
    'last-modified',
    'sent',
    TYPES,
    onAssets((a) => replaceHeader(a, 'last-modified', new Date(0).toUTCString())),
  ),
  ssr('accept-ranges', 'not sent', TYPES, {}),
  ssr(
    'accept-ranges',
    'sent',
    TYPES,
    onAssets((a) => replaceHeader(a, 'accept-ranges', 'bytes')),
  ),
  ssr('range', 'the whole file', RANGE, {}),
  ssr('range', '206', RANGE, { finish: (a, r) => (r.target.startsWith('/assets/') ? ranged(a, r) : a) }),
]

/** What RFC 9110 section 14 says, for one range of bytes. */
function ranged(response: Outgoing, { headers }: Incoming): Outgoing {
  const value = (name: string) => headers.find(([other]) => other === name)?.[1]
  const [, from = '', to = ''] = /^bytes=(\d*)-(\d*)$/.exec(value('range') ?? '') ?? []
  const condition = value('if-range')
  const etag = response.headers.find(([name]) => name === 'etag')?.[1]
  if (
    response.status !== 200 ||
    (from === '' && to === '') ||
    (condition !== undefined && condition !== etag)
  )
    return response
  const { length } = response.body
  const start = from === '' ? length - Number(to) : Number(from)
  const end = from === '' || to === '' ? length - 1 : Number(to)
  if (start >= length) return asProblem(416)(response)
  const part = replaceBody(response, response.body.subarray(start, end + 1))
  return { ...replaceHeader(part, 'content-range', `bytes ${start}-${end}/${length}`), status: 206 }
}

const ALTERNATIVES = [...methods, ...writing, ...paths, ...numbers, ...bodies, ...files]

describe('each allowed outcome is no difference and is noted', { concurrency: 4 }, () => {
  for (const { situation, manners, role, check, behaviour } of ALTERNATIVES) {
    test(`${situation}: ${manners.join(', ')}`, async () => {
      const reference = await startReference(role, behaviour)
      try {
        const report = await checkConformance({
          target: reference.target,
          role,
          only: check,
          timeoutMs: 2000,
        })
        assert.equal(report.differences.length, 0, formatReport(report))
        assert.deepEqual(report.manners[situation], manners)
      } finally {
        await reference.close()
      }
    })
  }
})

test('the table has every manner of every situation', () => {
  const shown = new Set(
    ALTERNATIVES.flatMap(({ situation, manners }) => manners.map((manner) => `${situation} ${manner}`)),
  )
  const missing = Object.entries(SITUATIONS).flatMap(([situation, { manners }]) =>
    manners.map((manner) => `${situation} ${manner}`).filter((name) => !shown.has(name)),
  )
  assert.deepEqual(missing, [])
})

test('only what the contract allows can be noted', () => {
  const record = new MannersRecord()
  assert.throws(() => record.add(['options', '418']), RangeError)
  assert.deepEqual(record.read(), {})
})

function hello(
  situation: Situation,
  manner: string,
  check: string,
  behaviour: Partial<Behaviour>,
): Alternative {
  return { situation, manners: [manner], role: 'hello', check, behaviour }
}

function status(
  situation: Situation,
  manner: string,
  check: string,
  behaviour: Partial<Behaviour>,
): Alternative {
  return { situation, manners: [manner], role: 'status', check, behaviour }
}

function ssr(
  situation: Situation,
  manner: string,
  check: string,
  behaviour: Partial<Behaviour>,
): Alternative {
  return { situation, manners: [manner], role: 'ssr', check, behaviour }
}
