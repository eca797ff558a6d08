import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { createProgress, startClock } from '../src/progress.ts'

const XTERM = { TERM: 'xterm' }

function record(isTTY: boolean): { stream: NodeJS.WriteStream; text(): string } {
  let text = ''
  const stream = new PassThrough().setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  return {
    stream: Object.assign(stream, { isTTY, columns: 80 }) as unknown as NodeJS.WriteStream,
    text: () => text,
  }
}

for (const [isTTY, TERM] of [
  [false, 'xterm'],
  [true, 'dumb'],
] as const)
  test(`${isTTY ? `on a ${TERM}` : 'without a'} terminal there is one plain line per step, with the time left`, () => {
    const { stream, text } = record(isTTY)
    const progress = createProgress(stream, { TERM })
    progress.begin(100_000)
    for (const step of ['heat 1', 'heat 1', 'heat 2']) progress.update(0.5, step)
    progress.say('A sentence.')
    progress.stop()
    assert.match(text(), /^heat 1, \d:\d\d left\nheat 2, \d:\d\d left\nA sentence\.\n$/)
  })

test('on a terminal there is a bar with the time left, which a sentence does not break', () => {
  const { stream, text } = record(true)
  const progress = createProgress(stream, XTERM)
  progress.say('Before.')
  progress.begin(100_000)
  progress.update(0.25, 'heat 1 of 4')
  progress.say('Between.')
  progress.stop()
  progress.stop()
  assert.match(text(), /^Before\.\n/)
  assert.match(text(), /1:40 left {2}starting/)
  assert.match(text(), /Between\.\n[^\n]*█{6}░{18} 25 % {2}\d:\d\d left {2}heat 1 of 4/)
  const hidden = text().split('\u001b[?25l').length
  assert.equal(text().split('\u001b[?25h').length, hidden, 'the cursor is shown as often as hidden')
})

test('neither the bar nor a sentence is wider than the terminal', () => {
  const { stream, text } = record(true)
  const progress = createProgress(stream, XTERM)
  progress.begin(100_000)
  progress.update(0.25, 'express-to-fastify as published: Fastify with Express routes')
  progress.say('word '.repeat(40).trim())
  progress.update(0.5, 'short')
  progress.stop()
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what moves the cursor is no text
  const lines = text().split(/\u001b\[[?\d]*[A-Za-z]|\r|\n/)
  assert.ok(lines.some((line) => /express-to-fastify as published: Fas.*…$/.test(line)))
  assert.deepEqual(
    lines.filter((line) => line.length > 80),
    [],
  )
})

test('the time left begins with the plan and ends with experience', () => {
  let now = 0
  const clock = startClock(100, () => now)
  assert.equal(clock.left(), 100)
  now = 30
  assert.equal(clock.left(), 70)
  clock.update(0)
  assert.equal(clock.left(), 100)
  now = 180 // 90 % took 180, so 10 % take 20; planned were 10
  clock.update(0.9)
  assert.ok(clock.left() > 18 && clock.left() < 20, `${clock.left()}`)
  clock.update(1)
  assert.equal(clock.left(), 0)
  now = 1000
  assert.equal(clock.left(), 0)
})
