import type { Check } from '../check.ts'
import { document, problemOf, streamedDocument } from '../expectation.ts'

/** Values that are not a number, not a whole number, or out of range for every limit. */
const INVALID = [
  ...[
    '-1',
    '.5',
    '0.5',
    '1_0',
    '5+5',
    '5%00',
    '5,6',
    '5%2C6',
    'abc',
    '5a',
    'null',
    'NaN',
    'Infinity',
    'true',
    '--5',
  ],
  ...['%D9%A3', '%EF%BC%95', '99999999999999999999', '[5]', '%zz', '1e4', '0x2000', '5%205'],
]

/** Lines about `items` and `delay`. */
export const counts: readonly Check[] = [
  {
    name: 'items is the number of products',
    roles: ['ssr'],
    async run(probe) {
      for (const items of [0, 1, 7, 50, 99, 100, 1000]) {
        await probe.expect({ target: `/?items=${items}` }, document(items))
      }
    },
  },
  {
    name: 'items is 50 where it is absent',
    roles: ['ssr'],
    run: (probe) => probe.expectEach(['/', '/?', '/?items[]=5'], document(50)),
  },
  {
    name: 'items that are no whole number up to 1000 are 400',
    roles: ['ssr'],
    async run(probe) {
      await probe.expectEach(malformed('/?items', ['1001', '10000', ...INVALID]), problemOf(400, 'items'))
    },
  },
  {
    name: 'items given twice are 400',
    roles: ['ssr'],
    run: (probe) =>
      probe.expectEach(
        ['items=5&items=5', 'items=5&items=6', 'items=5&x=1&items=', 'items&items=5'].map(
          (query) => `/?${query}`,
        ),
        problemOf(400, 'items'),
      ),
  },
  {
    name: 'items are read among other parameters',
    roles: ['ssr'],
    run: (probe) =>
      probe.expectEach(
        ['x=1&items=5', 'items=5&x=%zz', 'items=5&items[]=6', 'ITEMS=7&items=5', 'items=5&'].map(
          (query) => `/?${query}`,
        ),
        document(5),
      ),
  },
  {
    name: 'the stream has the same rules for items',
    roles: ['ssr'],
    needs: ['stream'],
    async run(probe) {
      for (const items of [0, 1, 100, 1000]) {
        await probe.expect({ target: `/stream?delay=0&items=${items}` }, streamedDocument(items))
      }
      await probe.expect({ target: '/stream?delay=0' }, streamedDocument(50))
      await probe.expectEach(
        malformed('/stream?delay=0&items', ['1001', ...INVALID]),
        problemOf(400, 'items'),
      )
      await probe.expect({ target: '/stream?delay=0&items=5&items=5' }, problemOf(400, 'items'))
    },
  },
  {
    name: 'a delay that is not a whole number up to 5000 is 400',
    roles: ['ssr'],
    needs: ['stream'],
    async run(probe) {
      await probe.expectEach(
        malformed('/stream?items=1&delay', ['5001', '10000', ...INVALID]),
        problemOf(400, 'delay'),
      )
      await probe.expect({ target: '/stream?items=1&delay=0&delay=0' }, problemOf(400, 'delay'))
    },
  },
]

function malformed(start: string, values: readonly string[]) {
  return values.map((value) => ({ target: `${start}=${value}` }))
}
