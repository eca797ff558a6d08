import { equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { DELAY_MS, ITEMS, parseCount } from '../../src/http/count.ts'

test('reads plain decimals in range', () => {
  for (const value of ['0', '7', '10', '999', '1000']) equal(parseCount(value, ITEMS), Number(value))
  equal(parseCount('5000', DELAY_MS), 5000)
})

test('has a default', () => {
  equal(parseCount(undefined, ITEMS), 50)
})

test('a list of one is that one', () => {
  equal(parseCount(['7'], ITEMS), 7)
})

test('refuses everything else', () => {
  const others = [
    '',
    ' ',
    '1001',
    '-1',
    '+1',
    '01',
    '00',
    '1.0',
    '1e2',
    '0x1',
    ' 1',
    '1 ',
    '1\n',
    '١',
    '99999999999',
  ]
  for (const value of [...others, [], ['1', '2'], ['x'], [['1']], { 0: '1' }, 7, null, true])
    throws(() => parseCount(value, ITEMS), { name: 'HttpProblem', status: 400 })
  const errors = [{ field: 'delay', reason: 'must be a whole number from 0 to 5000' }]
  throws(() => parseCount('5001', DELAY_MS), { status: 400, errors })
})
