import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { MannersRecord, SITUATIONS, type Situation } from '../src/contract/manners.ts'
import type { Role } from '../src/contract/subject.ts'
import { checkConformance, formatReport } from '../src/index.ts'
import { asProblem, decodeName, isOn, onPath, onStatus } from './reference/alterations.ts'
import { type Behaviour, CORRECT } from './reference/behaviour.ts'
import { type Incoming, type Outgoing, replaceBody, replaceHeader } from './reference/message.ts'
import { startReference } from './reference/server.ts'

/** A server with an allowed outcome that no app shows, and what the suite must note. The apps' own are in docs/manners.md. */
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
const TEXT = "the route's response with that text"

const withoutAllow = (response: Outgoing) => replaceHeader(response, 'allow')

const methods: readonly Alternative[] = [
  hello(
    'other-method',
    '501',
    OTHER,
    onStatus(405, (a) => withoutAllow(asProblem(501)(a))),
  ),
  hello('rare-method-unknown-path', '405', UNKNOWN, {
    finish: (a, r) => (isOn(r, 'PROPFIND') ? asProblem(405)(a) : a),
  }),
  hello('options', '204', OPTIONS, {}),
  hello('options', '501', OPTIONS, {
    finish: (a, r) => (isOn(r, 'OPTIONS') ? withoutAllow(asProblem(501)(a)) : a),
  }),
  hello('allow', 'GET, HEAD, OPTIONS', OTHER, {}),
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
  {
    situation: 'text-type',
    manners: ['another spelling'],
    role: 'status',
    check: 'every route responds',
    behaviour: onPath('/_/status', (a) => replaceHeader(a, 'content-type', 'Text/Plain; CHARSET=utf-8')),
  },
]

/** Two Hosts and the like stay refused. */
const lenient = (part: RegExp): Partial<Behaviour> => ({
  refuse: (r) => CORRECT.refuse({ ...r, target: r.target.replaceAll(part, 'x') }),
  decode: decodeName,
})

const BAD_ESCAPE = 'an escape that does not decode is 400, 404 or data'
const NUL = 'an escaped NUL is 400, 404 or data'

const paths: readonly Alternative[] = [
  ssr('directory', '403', 'the directory of the assets is 404 or 403', onStatus(404, asProblem(403))),
  { ...hello('bad-escape', TEXT, BAD_ESCAPE, lenient(/%/g)), manners: ['404', TEXT] },
  hello('nul', '404', NUL, onStatus(400, asProblem(404))),
  { ...hello('nul', TEXT, NUL, lenient(/%00/g)), manners: ['404', TEXT] },
]

/** Reads numbers as `Number` does. */
const COERCED: Partial<Behaviour> = {
  count: (values, fallback, max) => {
    if (values.length !== 1) return CORRECT.count(values, fallback, max)
    const count = Number(values[0])
    return Number.isInteger(count) && count >= 0 && count <= max ? Math.abs(count) : undefined
  },
}

const numbers = [ssr('empty', '0', 'another spelling of a number is that number or 400', COERCED)]

const refuses = (status: number, when: (request: Incoming) => boolean): Partial<Behaviour> => ({
  refuse: (r) => (when(r) ? status : CORRECT.refuse({ ...r, length: 0 })),
})

const LARGE = 'a body over the limit is refused or left unread'
const LARGE_UNKNOWN = 'a body over the limit on an unknown path is 404 or refused'
const isLarge = ({ length = 0 }: Incoming) => length > 65_536

const bodies: readonly Alternative[] = [
  ...[413, 415].map((code) =>
    hello(
      'body-on-get',
      String(code),
      'a body on GET is ignored or refused',
      refuses(code, (r) => isOn(r, 'GET') && r.body.length > 0),
    ),
  ),
  hello(
    'malformed-body',
    '413',
    'fails, whatever its body',
    refuses(413, (r) => !isOn(r, 'GET') && r.length !== undefined),
  ),
  ...[400, 415].flatMap((code) => [
    hello('large-body-on-get', String(code), LARGE, refuses(code, isLarge)),
    hello('large-body', String(code), LARGE, refuses(code, isLarge)),
    hello('large-body-unknown-path', String(code), LARGE_UNKNOWN, refuses(code, isLarge)),
  ]),
  hello('refused-connection', 'open', 'two Host headers are 400', {}),
]

const files: readonly Alternative[] = [
  ssr('not-modified', '200', 'an asset that the client has is 304, or comes once more', {
    matches: () => false,
  }),
]

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

test('every manner of every situation is shown here, or by an app in docs/manners.md', () => {
  const [page = ''] = readFileSync(new URL('../../../docs/manners.md', import.meta.url), 'utf8').split(
    '## What changes',
  )
  const rows = page.split('\n').map((line) => line.split('|').map((text) => text.trim()))
  const shown = new Set(
    ALTERNATIVES.flatMap(({ situation, manners }) => manners.map((manner) => `${situation} ${manner}`)),
  )
  const missing = Object.entries(SITUATIONS).flatMap(([situation, { about, manners }]) => {
    const outcomes = rows.find((cells) => cells[1] === about)?.slice(2) ?? []
    return manners
      .filter((manner) => !outcomes.some((text) => text === manner || text.split(', ').includes(manner)))
      .map((manner) => `${situation} ${manner}`)
  })
  assert.deepEqual(
    missing.filter((name) => !shown.has(name)),
    [],
  )
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

function ssr(
  situation: Situation,
  manner: string,
  check: string,
  behaviour: Partial<Behaviour>,
): Alternative {
  return { situation, manners: [manner], role: 'ssr', check, behaviour }
}
