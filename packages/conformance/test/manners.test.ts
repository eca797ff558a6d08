import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { MannersRecord, SITUATIONS, type Situation } from '../src/contract/manners.ts'
import type { Role } from '../src/contract/subject.ts'
import { checkConformance, formatReport } from '../src/index.ts'
import { asProblem, decodeName, header, isOn, onOptions, onPath, onStatus } from './reference/alterations.ts'
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
const TEXT = "the route's response with that text"
const BAD_ESCAPE = 'an escape that does not decode is 400, 404 or data'
const NUL = 'an escaped NUL is 400, 404 or data'
const LARGE = 'a body over the limit is refused or left unread'

const asNotImplemented = (response: Outgoing) => replaceHeader(asProblem(501)(response), 'allow')
const isLarge = ({ length = 0 }: Incoming) => length > 65_536

const ALTERNATIVES: readonly Alternative[] = [
  one('hello', 'other-method', '501', OTHER, onStatus(405, asNotImplemented)),
  one('hello', 'rare-method-unknown-path', '405', 'another method on an unknown path is 404', {
    finish: (a, r) => (isOn(r, 'PROPFIND') ? asProblem(405)(a) : a),
  }),
  one('hello', 'options', '204', 'OPTIONS on a known path', {}),
  one('hello', 'options', '501', 'OPTIONS on a known path', onOptions(asNotImplemented)),
  one('hello', 'allow', 'GET, HEAD, OPTIONS', OTHER, {}),
  ...[200, 204, 404, 405, 501].map((status) =>
    one('hello', 'asterisk-options', String(status), 'OPTIONS * is a request or refused', {
      requestLine: /^([A-Z]+) (\*|\/[\x21-\x7e]*) HTTP\/(1\.[01])$/,
      finish: (a, { target }) => (target === '*' ? asterisk(status, a) : a),
    }),
  ),
  one(
    'status',
    'text-type',
    'another spelling',
    'every route responds',
    onPath('/_/status', header('content-type', 'Text/Plain; CHARSET=utf-8')),
  ),
  one('ssr', 'directory', '403', 'the directory of the assets is 404 or 403', onStatus(404, asProblem(403))),
  { ...one('hello', 'bad-escape', TEXT, BAD_ESCAPE, lenient(/%/g)), manners: ['404', TEXT] },
  one('hello', 'nul', '404', NUL, onStatus(400, asProblem(404))),
  { ...one('hello', 'nul', TEXT, NUL, lenient(/%00/g)), manners: ['404', TEXT] },
  one('ssr', 'empty', '0', 'another spelling of a number is that number or 400', {
    // As `Number` does.
    count: ([value], fallback) => (value === undefined ? fallback : Number(value)),
  }),
  ...[413, 415].map((status) =>
    one(
      'hello',
      'body-on-get',
      String(status),
      'a body on GET is ignored or refused',
      refuses(status, (r) => isOn(r, 'GET') && r.body.length > 0),
    ),
  ),
  one(
    'hello',
    'malformed-body',
    '413',
    'fails, whatever its body',
    refuses(413, (r) => !isOn(r, 'GET') && r.length !== undefined),
  ),
  ...[400, 415].flatMap((status) => [
    one('hello', 'large-body-on-get', String(status), LARGE, refuses(status, isLarge)),
    one('hello', 'large-body', String(status), LARGE, refuses(status, isLarge)),
    one(
      'hello',
      'large-body-unknown-path',
      String(status),
      'a body over the limit on an unknown path is 404 or refused',
      refuses(status, isLarge),
    ),
  ]),
  one('hello', 'refused-connection', 'open', 'two Host headers are 400', {}),
  one('ssr', 'not-modified', '200', 'an asset that the client has is 304, or comes once more', {
    matches: () => false,
  }),
]

function one(
  role: Role,
  situation: Situation,
  manner: string,
  check: string,
  behaviour: Partial<Behaviour>,
): Alternative {
  return { situation, manners: [manner], role, check, behaviour }
}

function asterisk(status: number, response: Outgoing): Outgoing {
  const empty = replaceHeader(replaceHeader(response, 'content-length'), 'content-type')
  if (status === 204) return { ...empty, status, body: Buffer.alloc(0) }
  return status === 200 ? { ...replaceBody(empty, ''), status } : asProblem(status)(response)
}

/** Two Hosts and the like stay refused. */
function lenient(part: RegExp): Partial<Behaviour> {
  return {
    refuse: (r) => CORRECT.refuse({ ...r, target: r.target.replaceAll(part, 'x') }),
    decode: decodeName,
  }
}

function refuses(status: number, when: (request: Incoming) => boolean): Partial<Behaviour> {
  return { refuse: (r) => (when(r) ? status : CORRECT.refuse({ ...r, length: 0 })) }
}

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
