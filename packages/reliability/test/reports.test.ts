import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { APPS } from '@startgrid/grid/apps.ts'
import { groupApps } from '../src/report/app-groups.ts'
import { MARKS, writePage } from '../src/report/docs.ts'
import { createResult, type Result, readUnfinished, writeResult } from '../src/report/result.ts'
import { formatMatrix } from '../src/report/terminal.ts'
import type { Cell } from '../src/run.ts'

/** Frameworks beside njs. */
const OTHERS = new Set(APPS.filter(({ runtime }) => runtime !== 'nginx').map(({ framework }) => framework))
  .size

const directory = mkdtempSync(join(tmpdir(), 'startgrid-reliability-'))
after(() => rmSync(directory, { recursive: true }))

const cell = (app: string, more: Partial<Cell> = {}): Cell => {
  const empty = { findings: [], notes: [], figures: {}, seconds: 1 }
  return { fault: 'sigterm', app, state: 'passed', ...empty, ...more }
}

const RESULT: Result = {
  ...createResult({
    size: 'full',
    seed: 1,
    command: 'pnpm reliability --full --docs',
    nginx: 'NGINX 1.30.0',
    faults: ['sigterm', 'uncaught'],
    apps: APPS.map(({ name }) => name),
  }),
  cells: [
    ...APPS.filter(({ runtime }) => runtime !== 'nginx').map(({ name }) => cell(name)),
    cell('njs/hello', { state: 'failed', findings: ['GET /json: 503.\nIts body was long.'] }),
    cell('njs/ssr', { notes: ['It is slow.'], figures: { requests: 1234 } }),
    cell('njs/status', { state: 'absent', findings: ['It has none.'], fault: 'uncaught' }),
    cell('bun/ssr', { state: 'undecided', findings: ['Others used the machine.'], fault: 'uncaught' }),
  ],
}

test('many apps in few words', () => {
  assert.equal(groupApps(APPS.map(({ name }) => name)), 'all apps')
  assert.equal(groupApps(['koa/hello', 'koa/ssr', 'koa/status']), 'koa')
  assert.equal(groupApps(['koa/ssr', 'bun/hello']), 'koa/ssr, bun/hello')
  const pages = APPS.filter(({ role }) => role === 'ssr').map(({ name }) => name)
  assert.equal(groupApps(pages), 'ssr')
  assert.equal(groupApps(pages.slice(1)), 'ssr except node')
  const notNjs = APPS.filter(({ runtime }) => runtime !== 'nginx').map(({ name }) => name)
  assert.equal(groupApps(notNjs), 'all apps except njs')
})

test('the matrix for a terminal: frameworks in columns, what failed below, 80 columns', () => {
  const text = formatMatrix(RESULT)
  assert.match(text, new RegExp(`^sigterm(?: +ok){${OTHERS}} +1 FAIL$`, 'm'))
  assert.match(text, /^uncaught {20,}1 \? +absent$/m)
  assert.match(text, /^sigterm {2}njs\/hello\n {2}GET \/json: 503\.\n {2}Its body was long\.$/m)
  assert.match(text, new RegExp(`^${3 * OTHERS + 1} passed, 1 failed, 1 absent, 1 undecided$`, 'm'))
  assert.ok(text.split('\n').every((line) => line.length <= 80))
})

test('the page: its prose stays, the matrix is made again', () => {
  const page = join(directory, 'page.md')
  writeFileSync(page, `# Prose\n\n${MARKS.begin}\nold\n${MARKS.end}\n\nMore.\n`)
  writePage(RESULT, page)
  const text = readFileSync(page, 'utf8')
  assert.match(text, /^# Prose\n/)
  assert.match(text, /\n\nMore\.\n$/)
  assert.doesNotMatch(text, /^old$/m)
  assert.match(text, new RegExp(`^\\| sigterm +\\|( ✓ +\\|){${OTHERS}} ✗ +\\|$`, 'm'))
  assert.match(text, new RegExp(`^\\| uncaught \\|( +\\|){${OTHERS}} – +\\|$`, 'm'))
  assert.match(text, /^- `uncaught`, njs\/status: It has none\.$/m)
  assert.match(text, /^\| uncaught \|( +\|)+ \? +\|( +\|)$/m)
  assert.match(text, /^### Undecided\n\n- `uncaught`, bun\/ssr: Others used the machine\.$/m)
  assert.match(text, /^Tried in full, from /m)
  assert.match(text, /^- `sigterm`, njs\/hello: GET \/json: 503\. Its body was long\.$/m)
  assert.match(text, /^- `sigterm`, njs\/ssr: It is slow\.$/m)
  assert.match(text, /^\| njs\/ssr \| 1,234 +\|$/m)
  writeFileSync(page, '# Prose\n')
  assert.throws(() => writePage(RESULT, page), /has no place for the matrix: put <!-- matrix/)
})

test('an interrupted run of this machine and code is resumed, and what was undecided in one', () => {
  const path = join(directory, 'result.json')
  assert.throws(() => readUnfinished(path), /cannot be read \(ENOENT\): run pnpm reliability first\.$/)
  writeResult(path, RESULT)
  const cells = RESULT.cells.filter(({ state }) => state !== 'undecided')
  assert.equal(cells.length, RESULT.cells.length - 1)
  assert.deepEqual(readUnfinished(path), { ...RESULT, cells })
  writeResult(path, { ...RESULT, finishedAt: RESULT.startedAt })
  assert.deepEqual(readUnfinished(path), { ...RESULT, cells })
  writeResult(path, { ...RESULT, cells, finishedAt: RESULT.startedAt })
  assert.throws(() => readUnfinished(path), /The last run is complete: there is nothing to resume\.$/)
  writeResult(path, { ...RESULT, versions: { ...RESULT.versions, startgrid: 'other' } })
  assert.throws(() => readUnfinished(path), /because the code was other then and is \S+ now: start a new one/)
  writeFileSync(path, '{"schema":0}')
  assert.throws(() => readUnfinished(path), /is not a result of this version: run pnpm reliability again\.$/)
})
