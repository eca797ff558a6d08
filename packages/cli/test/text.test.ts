import assert from 'node:assert/strict'
import { test } from 'node:test'
import { capital, listOf, oneLine, plural, wrap } from '../src/text.ts'

test('lines break at spaces, before the column, and later ones are indented', () => {
  assert.equal(wrap('aaa bbb ccc', '  ', 7), 'aaa bbb\n  ccc')
  assert.equal(wrap('aaa bbb ccc', '', 6), 'aaa\nbbb\nccc')
  assert.equal(wrap('', '  ', 10), '')
})

test('a word that is too long stays whole', () => {
  assert.equal(wrap('a https://example.org/path b', '', 10), 'a\nhttps://example.org/path\nb')
})

test('a percent sign stays with its number', () => {
  assert.equal(wrap('within 12 % of', '', 9), 'within\n12 % of')
})

test('names are listed as in a sentence', () => {
  assert.equal(listOf([]), '')
  assert.equal(listOf(['a']), 'a')
  assert.equal(listOf(['a', 'b']), 'a and b')
  assert.equal(listOf(new Set(['a', 'b', 'c'])), 'a, b and c')
})

test('counts and beginnings of sentences', () => {
  assert.deepEqual(
    [plural(1, 'heat'), plural(0, 'heat'), plural(2, 'heat')],
    ['1 heat', '0 heats', '2 heats'],
  )
  assert.deepEqual([capital('driver wrk'), capital('')], ['Driver wrk', ''])
})

test('an error is told in its first line, or in the one that Node prints below a path', () => {
  assert.equal(oneLine(new Error('It broke.\nat somewhere')), 'It broke')
  assert.equal(oneLine('/a/b.ts:12\n\nTypeError: no such thing\n    at x'), 'TypeError: no such thing')
})
