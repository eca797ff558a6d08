import type { Header } from '../../http/header.ts'
import type { Check } from '../check.ts'
import { optionsOfGet, otherMethod, problemOf } from '../expectation.ts'
import type { Probe } from '../probe.ts'
import { plainRoute, routesOf, UNKNOWN_PATH } from '../route.ts'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-'

const VALID = [
  'a',
  '-',
  '.',
  '..',
  '_',
  '0',
  'a'.repeat(64),
  ALPHABET.slice(0, 64),
  ALPHABET.slice(-64),
  'constructor',
]

const INVALID = [
  ...[
    'a'.repeat(65),
    'a'.repeat(1000),
    '',
    'a b',
    'a,b',
    '<b>',
    '"a"',
    'a/b',
    'a+b',
    'a=b',
    'a:b',
    'a%41',
    'a\tb',
  ],
  ...[Buffer.from('ü').toString('latin1'), Buffer.from('山').toString('latin1'), '\xfc'],
]

/** Lines about `x-request-id`. `judge` compares it on every response of every check. */
export const ids: readonly Check[] = [
  {
    name: 'a valid x-request-id is kept',
    async run(probe) {
      await sendIds(probe, VALID)
      for (const { target, expected } of await routesOf(probe)) {
        await probe.expect({ target, headers: idHeader('kept-by-every.route_1') }, expected)
      }
      await probe.expect({ target: UNKNOWN_PATH, headers: idHeader('kept-by-404') }, problemOf(404))
      await probe.expect({ target: UNKNOWN_PATH, headers: [['X-Request-ID', 'any-case']] }, problemOf(404))
      const { target } = plainRoute(probe)
      const headers = idHeader('kept-by-a-refusal')
      await probe.expect({ method: 'POST', target, headers }, otherMethod())
      await probe.expect({ method: 'OPTIONS', target, headers }, optionsOfGet())
      if (probe.subject.role === 'ssr') await probe.expect({ target: '/?items=x', headers }, problemOf(400))
    },
  },
  {
    name: 'an invalid x-request-id is replaced, and two of them by one',
    async run(probe) {
      await sendIds(probe, INVALID)
      const { target, expected } = plainRoute(probe)
      await probe.expect({ target, headers: [...idHeader('first'), ...idHeader('second')] }, expected)
      await probe.expect({ target, headers: [...idHeader('same'), ...idHeader('same')] }, expected)
    },
  },
  {
    name: 'a request without x-request-id gets a fresh one',
    async run(probe) {
      const { target, expected } = plainRoute(probe)
      await probe.connected(async (connection) => {
        for (let count = 0; count < 100; count += 1) await probe.expect({ target }, expected, connection)
      })
    },
  },
]

async function sendIds(probe: Probe, values: readonly string[]): Promise<void> {
  const { target, expected } = plainRoute(probe)
  await probe.expectEach(
    values.map((value) => ({ target, headers: idHeader(value) })),
    expected,
  )
}

function idHeader(value: string): Header[] {
  return [['x-request-id', value]]
}
