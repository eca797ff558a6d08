import type { Header } from '@startgrid/wire/request.ts'
import { otherMethod, problem } from '../expectation.ts'
import type { Check } from '../probe.ts'
import { plainRoute, routesOf, UNKNOWN_PATH } from '../route.ts'

const VALID = ['a', '-', '_', '0', 'a'.repeat(64), 'constructor', 'AZaz09-_']

const INVALID = [
  ...['a'.repeat(65), 'a'.repeat(1000), '', 'a b', 'a,b', '<b>', '"a"', 'a/b', 'a+b', 'a=b', 'a:b', 'a%41'],
  ...['a\tb', Buffer.from('ü').toString('latin1'), '\xfc'],
]

/** Lines about `x-request-id`. `judge` compares it on every response of every check, and sees whether a fresh one comes again. */
export const ids: readonly Check[] = [
  {
    name: 'a valid x-request-id is kept',
    async run(probe) {
      const { target, expected } = plainRoute(probe)
      for (const id of VALID) await probe.expect({ target, headers: header(id) }, expected)
      for (const route of await routesOf(probe))
        await probe.expect({ target: route.target, headers: header('kept-by-every-route') }, route.expected)
      await probe.expect({ target: UNKNOWN_PATH, headers: header('kept-by-404') }, problem(404))
      await probe.expect({ method: 'POST', target, headers: header('kept-by-a-refusal') }, otherMethod())
    },
  },
  {
    name: 'an invalid x-request-id is replaced',
    async run(probe) {
      const { target, expected } = plainRoute(probe)
      for (const id of INVALID) await probe.expect({ target, headers: header(id) }, expected)
    },
  },
]

function header(id: string): Header[] {
  return [['x-request-id', id]]
}
