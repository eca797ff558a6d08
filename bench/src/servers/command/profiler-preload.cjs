'use strict'
// For `node --require`: what the race asks of this thread's inspector over a unix socket. Whatever fails here, the server runs on.
const { STARTGRID_PROFILER: path } = process.env
if (path)
  try {
    serve(path)
  } catch {}

function serve(path) {
  const { Session } = require('node:inspector')
  // Before any code is compiled: with both, a function that V8 inlines has its own place in a profile.
  require('node:v8').setFlagsFromString('--detailed-line-info')
  const kept = connected()
  kept.post('Profiler.enable')
  kept.post('Profiler.setSamplingInterval', { interval: 1_000_000 })
  kept.post('Profiler.start')
  const session = connected()
  // It makes code slow that uses the object, and V8 has no frame of it.
  const { setPrototypeOf: own } = Object
  Object.setPrototypeOf = function setPrototypeOf(object, prototype) {
    return own(object, prototype)
  }
  const [pid, , tid] = require('node:fs').readlinkSync('/proc/thread-self').split('/').map(Number)
  const socket = require('node:net').connect(path).setEncoding('utf8').unref()
  const say = (value) => socket.write(`${JSON.stringify(value)}\n`)
  say({ pid, tid, cwd: process.cwd(), entry: process.argv[1] ?? '', version: process.versions.node })
  let rest = ''
  socket.on('error', () => {})
  socket.on('data', (text) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop()
    for (const line of lines) session.post(...JSON.parse(line), (_, result) => say(result?.profile ?? {}))
  })

  function connected() {
    const session = new Session()
    session.connect()
    return session
  }
}
