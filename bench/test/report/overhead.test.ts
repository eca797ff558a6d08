import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { OverheadFigures } from '../../src/judge/overhead.ts'
import { formatOverhead, writeOverhead } from '../../src/report/overhead.ts'
import { within } from '../fixtures/small-race.ts'

const MICROSECONDS: Readonly<Record<string, number>> = {
  bare: 10,
  headers: 15,
  app: 16,
  logged: 20,
  direct: 16,
  ours: 40,
  'bare-naive': 60,
  'ours-naive': 80,
}

const figures = (name: string, ways: readonly string[]): OverheadFigures => ({
  name,
  costs: Object.fromEntries(
    ways.map((way) => [
      way,
      { ...within((MICROSECONDS[way] ?? 0) / 1e6), proxy: name === 'nginx' ? 2e-5 : null },
    ]),
  ),
  ratio: (over, under) =>
    ways.includes(over) && ways.includes(under)
      ? within((MICROSECONDS[over] ?? 0) / (MICROSECONDS[under] ?? 1))
      : undefined,
})

const NODE = figures('node', ['bare', 'headers', 'app', 'logged'])
const NGINX = figures('nginx', ['direct', 'bare', 'ours', 'bare-naive', 'ours-naive'])

test('a table of frameworks and one of NGINX', () => {
  const text = formatOverhead([NODE, NGINX], 'nginx', 200)
  assert.match(text, /^node .*10\.0 .*15\.0 .*16\.0 .*0\.63 .*0\.94 \(0\.90–0\.98\) .*20\.0 .*0\.75 \(/m)
  assert.match(text, /^a connection per request .*60\.0 .*80\.0 .*0\.75 \(.*20 %/m)
})

test('what was not measured has a dash', () => {
  assert.match(formatOverhead([figures('bun', ['bare', 'app'])], 'nginx', 200), /^bun .*10\.0 .*— .*16\.0/m)
})

test('a page gets the tables between its marks, and one without marks is refused', () => {
  const page = join(mkdtempSync(join(tmpdir(), 'startgrid-')), 'page.md')
  writeFileSync(
    page,
    'before\n<!-- overhead: pnpm bench overhead --docs -->\nold\n<!-- end of overhead -->\nafter\n',
  )
  writeOverhead(page, [NODE, NGINX], 'nginx', 'Measured today.')
  const text = readFileSync(page, 'utf8')
  assert.match(
    text,
    /^before\n<!-- overhead: .*-->\n\n\| .*bare[\s\S]*Measured today\.\n\n<!-- end of overhead -->\nafter\n$/,
  )
  assert.doesNotMatch(text, /old/)
  writeFileSync(page, 'nothing')
  assert.throws(() => writeOverhead(page, [NODE], 'nginx', ''), /has no place for its figures/)
})
