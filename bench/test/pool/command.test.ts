import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { PoolFigures } from '../../src/pool/figures.ts'
import type { PageFigures } from '../../src/pool/pages/figures.ts'

const CLI = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
const DIRECTORY = mkdtempSync(join(tmpdir(), 'startgrid-pool-'))
after(() => rmSync(DIRECTORY, { recursive: true }))

function start(words: string) {
  const child = spawn(process.execPath, [CLI, 'pool', ...words.split(' ')], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // a process group of its own, as a terminal makes it
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
    child.emit('said', stderr)
  })
  const ended = once(child, 'close').then(([code]) => ({ code: Number(code), stdout, stderr }))
  return { child, ended }
}

test('measures launches, shows them, and writes them', async () => {
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

test('pages as JSON on standard output', async () => {
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

test('Ctrl-C ends it with 130, and what was complete is shown', async () => {
  const { child, ended } = start('--size 1 --messages 1000 --launches 100')
  while (!String(await once(child, 'said')).includes('launch 2 of'));
  process.kill(-(child.pid ?? 0), 'SIGINT')
  const { code, stdout } = await ended
  assert.equal(code, 130)
  assert.match(stdout, /^ +1 +[\d,]+ /m)
})
