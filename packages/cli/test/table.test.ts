import assert from 'node:assert/strict'
import { test } from 'node:test'
import { layOut, markdownTable, type Table } from '../src/table.ts'

const TABLE: Table = {
  columns: [
    { heading: 'name', align: 'left', priority: 0 },
    { heading: 'req/s', align: 'right', priority: 0 },
    { heading: 'memory', align: 'right', priority: 2 },
    { heading: 'cost', align: 'right', priority: 1 },
    { heading: 'nothing', align: 'right', priority: 0 },
  ],
  rows: [
    { tone: 'best', cells: ['bun', '96,135', '75', '10.2', ''] },
    { tone: 'plain', cells: ['a longer name', '9', '112', '21.9', ''] },
  ],
}

function linesAt(width: number): string[] {
  const [lines] = layOut([TABLE], width)
  return [lines?.head ?? '', ...(lines?.rows.map(({ text }) => text) ?? [])]
}

test('columns are aligned, empty ones left out', () => {
  assert.deepEqual(linesAt(80), [
    'name            req/s  memory  cost',
    'bun            96,135      75  10.2',
    'a longer name       9     112  21.9',
  ])
})

test('the least important column goes first, the others stay in order', () => {
  assert.equal(linesAt(35)[0], 'name            req/s  memory  cost')
  assert.equal(linesAt(34)[0], 'name            req/s  cost')
  assert.equal(linesAt(26)[0], 'name            req/s')
})

test('where not even the columns that are always shown fit, it is a list', () => {
  assert.deepEqual(linesAt(16), ['', 'bun\n  req/s 96,135', 'a longer name\n  req/s 9'])
})

test('tables of the same headings have the same columns, others their own', () => {
  const small = { ...TABLE, rows: TABLE.rows.slice(0, 1) }
  const other: Table = { columns: [{ heading: 'x', align: 'left', priority: 0 }], rows: [] }
  const [one, two, three] = layOut([TABLE, small, other], 80)
  assert.equal(one?.head, two?.head)
  assert.equal(one?.rows[0]?.text, two?.rows[0]?.text)
  assert.equal(three?.head, '')
})

test('GitHub reads the table: every line has the same cells, the rule says the alignment', () => {
  assert.equal(
    markdownTable(TABLE, 1),
    [
      '| name          |  req/s | cost |',
      '| ------------- | -----: | ---: |',
      '| bun           | 96,135 | 10.2 |',
      '| a longer name |      9 | 21.9 |',
    ].join('\n'),
  )
})
