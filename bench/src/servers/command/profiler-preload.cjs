'use strict'
// For `node --require`: profiles this thread when the race asks for it over a unix socket. Whatever fails here, the server runs on.
const { STARTGRID_PROFILER: path } = process.env
if (path)
  try {
    serve(path)
  } catch {}

function serve(path) {
  const { Session } = require('node:inspector')
  // Before any code is compiled: with both, a function that V8 inlines has its own place in a profile.
  require('node:v8').setFlagsFromString('--detailed-line-info')
  post(open(), 'Profiler', 'start', 1_000_000)
  const session = open()
  // It makes code slow that uses the object, and V8 has no frame of it.
  const { setPrototypeOf: own } = Object
  Object.setPrototypeOf = function setPrototypeOf(object, prototype) {
    return own(object, prototype)
  }
  const [pid, , tid] = require('node:fs').readlinkSync('/proc/thread-self').split('/').map(Number)
  const socket = require('node:net').connect(path).setEncoding('utf8').unref()
  const say = (value) => socket.write(`${JSON.stringify(value)}\n`)
  say({ pid, tid, cwd: process.cwd(), entry: process.argv[1] ?? '' })
  const commands = {
    cpu: (interval) => post(session, 'Profiler', 'start', interval),
    heap: (samplingInterval) => {
      const all = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true }
      return ask(session, 'HeapProfiler.startSampling', { samplingInterval, ...all })
    },
    'stop-cpu': async () => (await ask(session, 'Profiler.stop')).profile.nodes,
    'stop-heap': async () => {
      const { profile } = await ask(session, 'HeapProfiler.stopSampling')
      // Before, it leaves out what was collected.
      return Number.parseInt(process.versions.node, 10) < 20 ? [] : [profile.head]
    },
  }
  let rest = ''
  socket.on('error', () => {})
  socket.on('data', (text) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop()
    for (const line of lines) {
      const [command, value] = line.split(' ')
      commands[command](Number(value)).then(
        (nodes) => say(nodes ?? []),
        () => say([]),
      )
    }
  })

  function open() {
    const session = new Session()
    session.connect()
    return session
  }

  async function post(session, domain, method, interval) {
    await ask(session, `${domain}.enable`)
    await ask(session, `${domain}.setSamplingInterval`, { interval })
    await ask(session, `${domain}.${method}`)
  }

  function ask(session, method, parameters) {
    return new Promise((resolve, reject) =>
      session.post(method, parameters, (error, result) => (error ? reject(error) : resolve(result))),
    )
  }
}
