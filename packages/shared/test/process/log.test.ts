import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { pino } from 'pino'
import { isDeparture, logAnswer, logFailure, logsAnswers } from '../../src/process/log.ts'

function record(level: string) {
  const lines: Record<string, unknown>[] = []
  const log = pino({ level, base: null, timestamp: false }, { write: (text) => lines.push(JSON.parse(text)) })
  return { log, lines }
}

const ANSWER = { id: 'r-1', method: 'GET', url: '/?a=b', status: 200, client: '203.0.113.7' }

test('one line per answer, with milliseconds to the microsecond', () => {
  const { log, lines } = record('info')
  logAnswer(log, { ...ANSWER, ms: 1.23456 })
  deepEqual(lines, [{ level: 30, ...ANSWER, ms: 1.235, msg: 'answered' }])
})

test('a failure has its cause and the id of its request', () => {
  const { log, lines } = record('info')
  logFailure(log, 'r-1', new Error('why'))
  const [{ level, id, err, msg } = {}, ...others] = lines
  deepEqual([level, id, msg, others], [50, 'r-1', 'failed', []])
  equal((err as Error).message, 'why')
})

test('knows whether answers are logged at all', () => {
  equal(logsAnswers(record('info').log), true)
  equal(logsAnswers(record('debug').log), true)
  equal(logsAnswers(record('warn').log), false)
})

test('a client that left is no failure', () => {
  for (const code of ['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE'])
    equal(isDeparture(Object.assign(new Error('x'), { code })), true)
  for (const error of [
    new Error('x'),
    Object.assign(new Error('x'), { code: 'ENOENT' }),
    { code: 'EPIPE' },
    'EPIPE',
    null,
  ])
    equal(isDeparture(error), false)
})
