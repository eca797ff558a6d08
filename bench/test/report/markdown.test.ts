import assert from 'node:assert/strict'
import { test } from 'node:test'
import { documentOf } from '../../src/report/grid.ts'
import { formatMarkdown } from '../../src/report/markdown.ts'
import { smallRace, withFigures } from '../fixtures/small-race.ts'

test('a void cell has no number, and its reason below the table', () => {
  const text = formatMarkdown(documentOf(smallRace()))
  assert.match(text, /^\| ~~koa~~ +\| +void \| +\|/m)
  assert.match(text, /^- Void: koa \(3 of 1,200 requests failed\)\.$/m)
})

test('what programs said is not markup', () => {
  const finding = 'GET /<script>|*x* [link](http://example.org)'
  const hostile = withFigures(smallRace(), () => ({ void: finding }))
  const text = formatMarkdown(documentOf(hostile))
  assert.doesNotMatch(text, /(?<!\\)<script/)
  assert.match(text, /\\<script\\>\|\\\*x\\\* \\\[link\\\]\(/)
})
