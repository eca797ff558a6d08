import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Role } from '../src/contract/subject.ts'
import { checkConformance, formatReport } from '../src/index.ts'
import { asProblem, decodeName, isOn, onOptions, onStatus } from './reference/alterations.ts'
import { type Behaviour, CORRECT } from './reference/behaviour.ts'
import { type Incoming, type Outgoing, replaceHeader } from './reference/message.ts'
import { startReference } from './reference/server.ts'

/** Outcomes that the contract allows and that no app shows. The tests of the apps show the others. */
const ALLOWED: readonly (readonly [name: string, role: Role, check: string, Partial<Behaviour>])[] = [
  ['501 for another method', 'hello', 'another method on a known path', onStatus(405, notImplemented)],
  ['501 for OPTIONS', 'hello', 'OPTIONS on a known path', onOptions(notImplemented)],
  [
    '405 for an unknown method',
    'hello',
    'another method on an unknown path',
    { finish: (a, r) => (isOn(r, 'PROPFIND') ? asProblem(405)(a) : a) },
  ],
  ['403 for a directory', 'ssr', 'an unknown asset', onStatus(404, asProblem(403))],
  ['a bad escape as text', 'hello', 'an escape that does not decode, or to NUL', lenient(/%/g)],
  [
    '404 for a bad escape',
    'hello',
    'an escape that does not decode, or to NUL',
    onStatus(400, asProblem(404)),
  ],
  ['415 for a body on GET', 'hello', 'a body on GET', refuses((r) => isOn(r, 'GET') && r.body.length > 0)],
  ['415 for a large body', 'hello', 'a body over the limit', refuses(({ length = 0 }) => length > 65_536)],
]

describe('each allowed outcome is no difference', { concurrency: 4 }, () => {
  for (const [name, role, only, behaviour] of ALLOWED) {
    test(name, async () => {
      const { target, close } = await startReference(role, behaviour)
      try {
        const report = await checkConformance({ target, role, only, timeoutMs: 2000 })
        assert.ok(report.passed.length > 0)
        assert.equal(report.differences.length, 0, formatReport(report))
      } finally {
        await close()
      }
    })
  }
})

function notImplemented(response: Outgoing): Outgoing {
  return replaceHeader(asProblem(501)(response), 'allow')
}

/** Two Hosts and the like stay refused. */
function lenient(part: RegExp): Partial<Behaviour> {
  return {
    refuse: (r) => CORRECT.refuse({ ...r, target: r.target.replaceAll(part, 'x') }),
    decode: decodeName,
  }
}

function refuses(when: (request: Incoming) => boolean): Partial<Behaviour> {
  return { refuse: (r) => (when(r) ? 415 : CORRECT.refuse({ ...r, length: 0 })) }
}
