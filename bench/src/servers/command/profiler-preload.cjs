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
  const [pid, , tid] = require('node:fs').readlinkSync('/proc/thread-self').split('/').map(Number)
  const socket = require('node:net').connect(path).setEncoding('utf8').unref()
  const say = (value) => socket.write(`${JSON.stringify(value)}\n`)
  const { setPrototypeOf } = Object
  let callers = []
  say({ pid, tid, cwd: process.cwd(), entry: process.argv[1] ?? '', version: process.version })
  const commands = {
    cpu: (interval) => post(session, 'Profiler', 'start', interval),
    heap: (samplingInterval) => {
      const all = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true }
      return ask(session, 'HeapProfiler.startSampling', { samplingInterval, ...all })
    },
    // It makes code slow that uses the object: its own frame does not tell.
    prototypes: async () => {
      callers = []
      Object.setPrototypeOf = function ours(object, prototype) {
        callers.push(callerOf(ours))
        return setPrototypeOf(object, prototype)
      }
    },
    'stop-prototypes': async () => {
      Object.setPrototypeOf = setPrototypeOf
      const children = callers.map((callFrame) => ({ callFrame, hitCount: 1 }))
      return rowsOf([{ callFrame: { functionName: '(root)', url: '' }, hitCount: 0, children }])
    },
    'stop-cpu': async () => rowsOf((await ask(session, 'Profiler.stop')).profile.nodes),
    'stop-heap': async () => {
      const { profile } = await ask(session, 'HeapProfiler.stopSampling')
      // Before, it leaves out what was collected.
      return Number.parseInt(process.versions.node, 10) < 20 ? [] : rowsOf([profile.head])
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
        (rows) => say(rows ?? []),
        () => say([]),
      )
    }
  })

  function callerOf(called) {
    const { prepareStackTrace, stackTraceLimit } = Error
    Object.assign(Error, { prepareStackTrace: (_, [caller]) => caller, stackTraceLimit: 1 })
    const error = {}
    Error.captureStackTrace(error, called)
    const { stack: caller } = error
    Object.assign(Error, { prepareStackTrace, stackTraceLimit })
    return {
      functionName: caller?.getFunctionName() ?? '',
      url: caller?.getFileName() ?? '',
      lineNumber: caller?.getLineNumber() - 1,
    }
  }

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

  /** Parents before their children: name, url, line, column, row of the parent, samples or bytes. */
  function rowsOf(nodes) {
    const byId = new Map(nodes.map((node) => [node.id, node]))
    const rows = []
    const visit = ({ callFrame, hitCount, selfSize, children = [] }, parent) => {
      const { functionName, url, lineNumber, columnNumber } = callFrame
      rows.push([functionName, url, lineNumber, columnNumber, parent, hitCount ?? selfSize])
      const place = rows.length - 1
      for (const child of children) visit(byId.get(child) ?? child, place)
    }
    visit(nodes[0], -1)
    return rows
  }
}
