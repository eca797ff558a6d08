import assert from 'node:assert/strict'
import { test } from 'node:test'
import { documentOf } from '../../src/report/grid.ts'
import { formatMarkdown } from '../../src/report/markdown.ts'
import { smallRace, withFigures } from '../fixtures/small-race.ts'

test('gates are folded; what did not pass is told', () => {
  const text = formatMarkdown(documentOf(smallRace()))
  assert.match(text, /^\| koa +\| +void \| +\|/m)
  const gates = text.split('<summary>Gates</summary>')[1]?.split('</details>')[0] ?? ''
  assert.match(
    gates,
    /\| errors \| failed +\| koa\/hello nginx \| 3 of 1,200 requests failed\. Look at the log of the app\. \|/,
  )
  assert.match(gates, /- No gate failed in 4 of 5 cells\./)
  assert.doesNotMatch(gates, /bun/)
})

test('what programs said is not markup', () => {
  const finding = 'GET /<script>|*x* [link](http://example.org)'
  const hostile = withFigures(smallRace(), ({ gates }) => ({
    gates: gates.map((gate) => ({ ...gate, finding })),
  }))
  const text = formatMarkdown(documentOf(hostile))
  assert.doesNotMatch(text, /(?<!\\)<script/)
  assert.match(text, /\\<script\\>\|\\\*x\\\* \\\[link\\\]\(/)
})
