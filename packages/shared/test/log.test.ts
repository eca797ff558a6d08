import { equal, match } from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'

const LOG = new URL('../src/log.ts', import.meta.url).href

/** A program that logs so many lines of 1 kB, and says so on standard error. */
function start(lines: number) {
  const source = `
    import { createLog } from '${LOG}'
    const log = createLog({ LOG_LEVEL: 'info' })
    for (let n = 0; n < ${lines}; n++) {
      log.info({ n, padding: 'x'.repeat(1000) }, 'chatter')
      if (n % 100 === 0) await new Promise(setImmediate)
    }
    process.stderr.write('done')`
  return spawn(process.execPath, ['--input-type=module', '--eval', source], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

test('every exit writes what waits', { timeout: 120_000 }, async () => {
  const child = start(2_000)
  const lines = (await text(child.stdout)).trim().split('\n')
  equal(lines.length, 2_000)
  equal(JSON.parse(lines[1_999] ?? '').n, 1_999)
})

test('a reader that stops reading stops nobody', { timeout: 120_000 }, async () => {
  const child = start(20_000) // more than may wait
  const [said] = await once(child.stderr, 'data')
  match(String(said), /done/)
  child.kill('SIGKILL')
})
