import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { createProgress, startClock } from '../src/progress.ts'

function record(isTTY: boolean) {
  const texts: string[] = []
  const pipe = new PassThrough().setEncoding('utf8').on('data', (chunk: string) => texts.push(chunk))
  const stream = Object.assign(pipe, { isTTY, columns: 80 }) as unknown as NodeJS.WriteStream
  return { stream, text: () => texts.join('') }
}

test('without a terminal, or on a dumb one, there is one plain line per step, with the time left', () => {
  for (const isTTY of [false, true]) {
    const { stream, text } = record(isTTY)
    const progress = createProgress(stream, { TERM: isTTY ? 'dumb' : 'xterm' })
    progress.begin(100_000)
    for (const step of ['heat 1', 'heat 1', 'heat 2']) progress.update(0.5, step)
    progress.say('A sentence.')
    progress.stop()
    assert.match(text(), /^heat 1, \d:\d\d left\nheat 2, \d:\d\d left\nA sentence\.\n$/)
  }
})

test('on a terminal there is a bar with the time left, which a sentence does not break; nothing is wider than the terminal', () => {
  const { stream, text } = record(true)
  const progress = createProgress(stream, { TERM: 'xterm' })
  progress.say('Before.')
  progress.begin(100_000)
  progress.update(0.25, 'express-to-fastify as published: Fastify with Express routes')
  progress.say('word '.repeat(40).trim())
  progress.update(0.5, 'short')
  progress.say('After.')
  progress.stop()
  progress.stop()
  assert.match(text(), /^Before\.\n/)
  assert.match(text(), /1:40 left {2}starting/)
  assert.match(text(), /After\.\n[^\n]*█{12}░{12} 50 % {2}\d:\d\d left {2}short/)
  const hidden = text().split('\u001b[?25l').length
  assert.equal(text().split('\u001b[?25h').length, hidden, 'the cursor is shown as often as hidden')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what moves the cursor is no text
  const lines = text().split(/\u001b\[[?\d]*[A-Za-z]|\r|\n/)
  assert.ok(lines.some((line) => /express-to-fastify as published: Fas.*…$/.test(line)))
  assert.ok(lines.every((line) => line.length <= 80))
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
