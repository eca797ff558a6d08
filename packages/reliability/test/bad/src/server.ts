import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { createProblem, PROBLEM } from '@startgrid/shared/problem.ts'
import { addressOf } from '@startgrid/shared/server.ts'

/** `node src/server.ts DEFECT`, started as the apps are: servers of which each does one thing wrong, by name. */
const DEFECTS: Readonly<Record<string, () => Server>> = {
  /** Ignores what nobody has caught. */
  'carries-on'() {
    process.on('uncaughtException', () => {}).on('unhandledRejection', () => {})
    return createHealthy()
  },

  /** Nobody catches what a handler throws. */
  'dies-of-a-handler': () =>
    createServer((request) => {
      throw new Error(`${request.url} fails`)
    }),

  /** Leaves an uncaught exception to Node, which prints it and ends the process in the middle of everything. */
  'ends-at-once': () =>
    createHealthy((_request, response) => {
      response.write('half')
      setTimeout(() => response.end('whole'), 1_500)
    }),

  /** Nobody catches that a query cannot be decoded. */
  'decodes-anything': () =>
    createHealthy((request, response) => {
      const { searchParams } = new URL(request.url ?? '/', 'http://localhost')
      response.end(decodeURIComponent(searchParams.get('id') ?? 'OK'))
    }),

  /** Ends when many come. */
  'dies-of-many'() {
    const server = createHealthy()
    return server.on('connection', () =>
      server.getConnections((_, count) => {
        if (count > 150) process.exit(7)
      }),
    )
  },

  /** Knows no SIGTERM, so that the system ends it. */
  'ends-by-signal': () => createHealthy(),

  /** Handlers fail as in fixtures/, and each is dealt with wrongly in its own way, but for the last. */
  'fails-badly': () =>
    createServer((request, response) => {
      response.setHeader('x-request-id', String(request.headers['x-request-id']))
      const fail = FAILURES[request.url ?? '']
      if (fail === undefined) response.end()
      else fail(response)
    }),

  /** Responds as hello does, and keeps 4 kB of each. */
  'keeps-a-little'() {
    const kept: Buffer[] = []
    return createHealthy((request, response) => {
      kept.push(Buffer.alloc(4_096, request.url))
      response.end('OK')
    })
  },

  /** Opens a file for each response, and closes it only if the response is complete. */
  'keeps-files': () =>
    createHealthy((_request, response) => {
      const file = openSync('/dev/null', 'r')
      response.once('close', () => {
        if (response.writableFinished) closeSync(file)
      })
      setTimeout(() => response.end('OK'), 20)
    }),

  /** Serves everyone, however late. */
  'never-sheds': () =>
    createHealthy((_request, response) => {
      keepBusy(3)
      response.end('page')
    }),

  /** Closes connections long before the time that it says. */
  'promises-too-much': () =>
    createServer({ keepAliveTimeout: 500 }, (_request, response) => {
      response.setHeader('keep-alive', 'timeout=4').end('OK')
    }),

  /** Responds with 503 to everybody from SIGTERM on, and takes its time. */
  'refuses-while-draining'() {
    let isDraining = false
    process.on('SIGTERM', async () => {
      isDraining = true
      await sleep(300)
      process.exit(0)
    })
    return createHealthy((_request, response) => {
      response.writeHead(isDraining ? 503 : 200, isDraining ? { connection: 'close' } : {}).end()
    })
  },

  /** Ends with 0, and with every connection, whatever is on its way. */
  'resets-at-sigterm'() {
    process.on('SIGTERM', () => process.exit(0))
    return createHealthy((request, response) => {
      if (request.url === '/stream?delay=800') setTimeout(() => response.end('OK'), 800)
      else response.end('OK')
    })
  },

  /** Has fewer connections than a browser opens. */
  'serves-few'() {
    const server = createHealthy()
    server.maxConnections = 20
    return server
  },

  /** Refuses nine of ten, probes too and when there is nothing to do, and says neither why nor until when. */
  'sheds-badly'() {
    let requests = 0
    return createHealthy((_request, response) => {
      requests++
      if (requests % 10 !== 0) response.statusCode = 503
      else keepBusy(3)
      response.end('sorry')
    })
  },

  /** Starts in any case. */
  'takes-any-port'() {
    process.env.PORT = '0'
    return createHealthy()
  },

  /** Cannot start, and says so with a stack. */
  'throws-at-start'() {
    throw new Error(`It does not like PORT=${process.env.PORT}`)
  },

  /** Its time grows with the square of the spaces in a header. */
  'trims-slowly': () =>
    createHealthy((request, response) => {
      response.end(String(request.headers['x-forwarded-host'] ?? 'OK').replace(/\s*,|\s+$/g, ''))
    }),

  /** Has all the time in the world for a request, and for its response to be read. */
  'waits-forever': () =>
    createServer({ headersTimeout: 0, requestTimeout: 0 }, (request, response) => {
      request.resume().once('end', () => response.end('a'.repeat(200_000)))
    }),
}

/** What most defects have in common: any path gets a response, and each response is logged. */
function createHealthy(respond: RequestListener = (_request, response) => response.end('OK')): Server {
  return createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
    if (request.method === 'POST') response.statusCode = 405
    print({ requestId: request.headers['x-request-id'], msg: 'request completed' })
    respond(request, response)
  })
}

const FAILURES: Readonly<Record<string, (response: ServerResponse) => void>> = {
  '/throws': (response) => {
    log(response)
    response.writeHead(500).end(`${new Error('secret').stack}`)
  },
  '/rejects': (response) => {
    response.writeHead(500, { 'content-type': PROBLEM }).end(JSON.stringify(createProblem(500)))
  },
  '/breaks': (response) => {
    log(response)
    response.end('half')
  },
  '/breaks/as/a/stream': (response) => {
    log(response)
    log(response)
    response.destroy()
  },
  '/hangs': log,
  '/stalls': (response) => {
    print({ id: response.getHeader('x-request-id'), status: 200 })
    response.destroy()
  },
}

function log(response: ServerResponse): void {
  print({ level: 50, id: response.getHeader('x-request-id'), cause: 'unknown' })
}

function print(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

/** As rendering does. */
function keepBusy(milliseconds: number): void {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
}

const defect = process.argv[2] ?? ''
const server = DEFECTS[defect]?.().listen(Number(process.env.PORT), '127.0.0.1')
if (server === undefined) throw new Error(`There is no defect '${defect}'.`)
await once(server, 'listening')
print({ app: `bad/${defect}`, pid: process.pid, address: addressOf(server), msg: 'listening' })
