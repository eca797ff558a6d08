import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startNode } from '@startgrid/cli/test-programs.ts'
import { sample } from '@startgrid/cli/test-run.ts'
import type { PoolFigures } from '../../src/pool/figures.ts'
import type { PageFigures } from '../../src/pool/pages/figures.ts'
import { testIf } from '../fixtures/test-if.ts'

const CLI = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
const DIRECTORY = mkdtempSync(join(tmpdir(), 'startgrid-pool-'))
after(() => rmSync(DIRECTORY, { recursive: true }))

/** Each starts a program that starts pools: a short run of the tests has one of the three. */
const TRIED = sample('pnpm bench pool', ['launches', 'pages', 'Ctrl-C'] as const, 1)
const testOne = (name: (typeof TRIED)[number]) => testIf(TRIED.includes(name))

/** In a process group of its own, as a terminal starts it. */
function start(words: string) {
  return startNode([CLI, 'pool', ...words.split(' ')], { detached: true })
}

testOne('launches')('measures launches, shows them, and writes them', async () => {
  const file = join(DIRECTORY, 'pool.json')
  const { code, stdout, stderr } = await start(
    `--size 1 --messages 1000 --launches 2 --library piscina --json ${file}`,
  ).ended
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^piscina on Node .* with 1 worker: 1,000 messages, 16 in flight\.$/m)
  assert.match(stderr, /^launch 1 of 2\nlaunch 2 of 2\n$/)
  const figures = JSON.parse(readFileSync(file, 'utf8')) as PoolFigures
  assert.equal(figures.launches.length, 2)
  assert.ok((figures.rate.low ?? 0) < figures.rate.value)
})

testOne('pages')('pages as JSON on standard output', async () => {
  const { code, stdout, stderr } = await start(
    'pages --size 1 --items 2 --duration 200ms --launches 1 --json -',
  ).ended
  assert.equal(code, 0, stderr)
  const figures = JSON.parse(stdout) as PageFigures
  assert.equal(figures.launches.length, 1)
  assert.equal(figures.settings.items, 2)
})

test('wrong words are one sentence and exit 2', async () => {
  const { code, stdout, stderr } = await start('--size none').ended
  assert.deepEqual([code, stdout], [2, ''])
  assert.equal(stderr, "--size is 'none', but must be a whole number from 1 to 64.\n")
})

testOne('Ctrl-C')('Ctrl-C ends it with 130, and what was complete is shown', async () => {
  const { child, stderr, ended } = start('--size 1 --messages 1000 --launches 100')
  while (!stderr().includes('launch 2 of')) await once(child.stderr, 'data')
  process.kill(-(child.pid ?? 0), 'SIGINT')
  const { code, stdout } = await ended
  assert.equal(code, 130)
  assert.match(stdout, /^ +1 +[\d,]+ /m)
})
