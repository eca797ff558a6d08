import { deepEqual, match, rejects } from 'node:assert/strict'
import { PassThrough, Writable } from 'node:stream'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import { Cancelled, type Choice, pick } from '../src/picker.ts'
import { listApps } from '../src/source.ts'

const DOWN = '\u001b[B'
const RETURN = '\r'

const OPTIONS = [
  { name: 'telemetry', title: 'Traces' },
  { name: 'nginx', title: 'A proxy', refused: 'It is one.' },
  { name: 'metrics', title: 'Counts' },
]

/** Types keys, one each time a question waits. */
async function pickWith(keys: readonly string[], known: Choice = {}) {
  let written = ''
  const input = new PassThrough()
  const output = new Writable({
    write(chunk, _, done) {
      written += String(chunk)
      done()
    },
  })
  const optionsOf = async () => OPTIONS
  const picked = pick(known, {
    apps: listApps(),
    optionsOf,
    title: 'npm create',
    defaultPath: 'my-app',
    input,
    output,
  })
  const typed = (async () => {
    for (const key of keys) {
      const before = written
      input.write(key)
      for (let turn = 0; turn < 10_000 && written === before; turn++) await nextTurn()
    }
  })()
  const chosen = await picked
  await typed
  return { chosen, text: stripVTControlCharacters(written) }
}

test('asks for framework, role, options and directory', async () => {
  const { chosen, text } = await pickWith([DOWN, RETURN, DOWN, RETURN, ' ', RETURN, RETURN])
  deepEqual(chosen, { framework: 'fastify', role: 'ssr', options: ['telemetry'], path: 'my-app' })
  match(text, /Framework[\s\S]*Fastify[\s\S]*njs/)
  match(text, /ssr \(a React page/)
})

test('asks only for what is missing, and does not offer what the app cannot have', async () => {
  const { chosen, text } = await pickWith([DOWN, ' ', RETURN], {
    framework: 'njs',
    role: 'hello',
    path: 'here',
  })
  deepEqual(chosen, { framework: 'njs', role: 'hello', options: ['metrics'], path: 'here' })
  match(text, /Traces/)
  deepEqual(text.match(/A proxy|Framework|Directory/g), null)
})

test('a directory that makes a bad name is asked for again', async () => {
  const known = { framework: 'koa', role: 'hello', options: [] }
  const { chosen, text } = await pickWith(
    ['A', ' ', 'b', RETURN, '\u007f', '\u007f', '\u007f', 'b', RETURN],
    known,
  )
  match(text, /cannot be the name of a package/)
  deepEqual(chosen.path, 'b')
})

test('Escape leaves it', async () => {
  await rejects(pickWith(['\u0003']), Cancelled)
})
