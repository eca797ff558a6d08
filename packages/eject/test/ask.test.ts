import { deepEqual, match, rejects } from 'node:assert/strict'
import { PassThrough, Writable } from 'node:stream'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import { ask, Cancelled } from '../src/ask.ts'
import { APPS } from '../src/choices.ts'

/** In a dumb terminal Node heeds no backspace, and nothing is asked there. */
process.env.TERM = 'xterm'

const DOWN = '\u001b[B'
const RETURN = '\r'

/** Types keys, one each time a question waits. */
async function askWith(keys: readonly string[], known: Parameters<typeof ask>[0] = {}) {
  let written = ''
  const input = new PassThrough()
  const output = new Writable({
    write(chunk, _, done) {
      written += String(chunk)
      done()
    },
  })
  const asked = ask(known, { title: 'npm create', defaultPath: 'my-app', input, output })
  const typed = (async () => {
    for (const key of keys) {
      const before = written
      input.write(key)
      for (let turn = 0; turn < 10_000 && written === before; turn++) await nextTurn()
    }
  })()
  const chosen = await asked
  await typed
  return { chosen, text: stripVTControlCharacters(written) }
}

test('asks for framework, role, options and directory', async () => {
  const { chosen, text } = await askWith([DOWN, RETURN, DOWN, RETURN, ' ', RETURN, RETURN])
  const { app, ...others } = chosen
  deepEqual([app.name, others], ['fastify/ssr', { options: ['telemetry'], path: 'my-app' }])
  match(text, /Framework[\s\S]*Fastify[\s\S]*njs/)
  match(text, /ssr \(a React page/)
})

test('asks only for what is missing, and does not offer what the app cannot have', async () => {
  const app = APPS.find(({ name }) => name === 'bun/hello')
  const { chosen, text } = await askWith([DOWN, ' ', RETURN, RETURN], { app })
  deepEqual(chosen, { app, options: ['kubernetes'], path: 'my-app' })
  match(text, /NGINX in front/)
  deepEqual(text.match(/OpenTelemetry|Framework/g), null)
})

test('a directory that makes a bad name is asked for again', async () => {
  const known = { app: APPS[0], options: [] }
  const { chosen, text } = await askWith(
    ['A', ' ', 'b', RETURN, '\u007f', '\u007f', '\u007f', 'b', RETURN],
    known,
  )
  match(text, /cannot be the name of a package/)
  deepEqual(chosen.path, 'b')
})

test('Escape leaves it', async () => {
  await rejects(askWith(['\u0003']), Cancelled)
})
