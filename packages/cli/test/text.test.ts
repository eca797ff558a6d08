import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UsageError } from '../src/arguments.ts'
import { capital, listOf, oneLine, plural, wrap } from '../src/text.ts'

test('lines break at spaces, before the column, and later ones are indented; long words and percentages stay whole', () => {
  assert.equal(wrap('aaa bbb ccc', '  ', 7), 'aaa bbb\n  ccc')
  assert.equal(wrap('aaa bbb ccc', '', 6), 'aaa\nbbb\nccc')
  assert.equal(wrap('', '  ', 10), '')
  assert.equal(wrap('a https://example.org/path b', '', 10), 'a\nhttps://example.org/path\nb')
  assert.equal(wrap('within 12 % of', '', 9), 'within\n12 % of')
})

test('names are listed as in a sentence; counts and beginnings of sentences', () => {
  const lists = [[], ['a'], ['a', 'b'], new Set(['a', 'b', 'c'])].map(listOf)
  assert.deepEqual(lists, ['', 'a', 'a and b', 'a, b and c'])
  assert.equal(`${plural(1, 'heat')}, ${plural(0, 'heat')}, ${plural(2, 'heat')}`, '1 heat, 0 heats, 2 heats')
  assert.deepEqual([capital('driver wrk'), capital('')], ['Driver wrk', ''])
})

test('an error is told in its first line, or in the one that Node prints below a path', () => {
  assert.equal(oneLine(new Error('It broke.\nat somewhere')), 'It broke')
  const long = `${'quoted '.repeat(99)}advice`
  assert.deepEqual([oneLine(long).length, oneLine(new UsageError(`${long}.`))], [300, long])
  assert.equal(oneLine('/a/b.ts:12\n\nTypeError: no such thing\n    at x'), 'TypeError: no such thing')
})
