import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerOptions, type ServerResponse } from 'node:http'
import { createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { startNode } from '@startgrid/cli/test-programs.ts'
import { formatTarget, type Target } from '../src/http/target.ts'
import { checkDesync } from '../src/protocol/desync.ts'
import { fuzz } from '../src/protocol/fuzz.ts'
import { checkLimits, oversizedRequests } from '../src/protocol/limits.ts'
import { checkRfc9112 } from '../src/protocol/rfc9112.ts'
import { startReference } from './reference/server.ts'

/** Each server has one defect that the protocol must find. */

async function listen(context: TestContext, server: Server): Promise<Target> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => sockets.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  context.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  return { host: '127.0.0.1', port: typeof address === 'object' && address !== null ? address.port : 0 }
}

/** Responds as the apps do, as far as the protocol looks. */
function respond({ url = '', headers }: IncomingMessage, response: ServerResponse): void {
  const status = url === '/livez' ? 200 : 404
  const body = String(status)
  const id = String(headers['x-request-id'])
  response.writeHead(status, { 'x-request-id': id, 'content-length': body.length }).end(body)
}

const LENIENT: ServerOptions = { insecureHTTPParser: true, requireHostHeader: false }

describe('the protocol', { concurrency: true }, () => {
  test('rfc9112 finds a lenient parser, form by form', async (context) => {
    const { findings } = await checkRfc9112(await listen(context, createServer(LENIENT, respond)))
    for (const form of [
      '3.2, no Host: 404, 404, and reads on instead of 400.',
      '3.2, two Hosts: 404, 404, and reads on instead of 400.',
      '3.2, two Hosts and another authority in the target: 404, 404, and reads on instead of 400.',
      '3.2, Host with user information, and an authority in the target: 404, 404, and reads on instead of 400.',
      '6.1, gzip, chunked, and an unknown expectation: 417, 404, and reads on instead of 400 or 417 or 501, connection: close, closed.',
      '6.1, chunked, then Content-Length: 404, 404, and reads on instead of the end of the connection.',
      '6.1, chunked in HTTP/1.0: 404, 404, and reads on instead of the end of the connection.',
    ])
      assert.ok(findings.includes(`RFC 9112 ${form}`), form)
  })

  test('rfc9112 finds a server that refuses everything', async (context) => {
    const server = createServer(({ headers }, response) => {
      const id = String(headers['x-request-id'])
      response.writeHead(400, { connection: 'close', 'content-length': 0, 'x-request-id': id }).end()
    })
    const { findings } = await checkRfc9112(await listen(context, server))
    assert.ok(
      findings.includes('RFC 9112 6.3, a plain Content-Length: 400, closed instead of a response to both.'),
    )
  })

  test('limits finds a server that takes everything', async (context) => {
    const server = createServer({ maxHeaderSize: 1_048_576 }, (request, response) => {
      request.resume()
      response.end('OK')
    })
    const findings = await checkLimits(await listen(context, server), oversizedRequests('/json'))
    assert.deepEqual(findings, [
      'a body over the limit: 200, not 404 or 405 or 413 or closed.',
      'a body of a terabyte, announced: 200, not 404 or 405 or 413.',
      'a chunked body over the limit, which nothing reads: 200, not 404 or 405 or 413 or closed.',
      'a header over the limit: 200, not 431 or closed.',
      '10,000 query parameters, over the limit of the header: 200, not 414 or 431 or closed.',
    ])
  })

  /** What a proxy with one upstream connection for all clients does, when the app behind it takes bodies for requests. */
  function createMixer(): Server {
    const surplus: string[] = []
    return createTcpServer((socket) => {
      let text = ''
      let stolen = surplus.shift()
      socket.setEncoding('latin1').on('error', () => {})
      socket.on('data', (bytes: string) => {
        text += bytes
        const sections = text.split('\r\n\r\n')
        text = sections.pop() ?? ''
        for (const section of sections) {
          const id = /^x-request-id: *(.*)$/im.exec(section)?.[1] ?? 'none'
          const status = section.startsWith('GET /livez ') ? '200 OK' : '404 Not Found'
          const response = `HTTP/1.1 ${status}\r\nx-request-id: ${id}\r\ncontent-length: 0\r\n\r\n`
          if (id.endsWith('.hidden')) surplus.push(response)
          else socket.write(stolen ?? response)
          stolen = undefined
        }
      })
    })
  }

  test('desync finds a client that gets the response to a hidden request', async (context) => {
    const findings = await checkDesync(await listen(context, createMixer()))
    assert.match(
      findings.join('\n'),
      /^After .+ \(attack-\d+\), the next client's request got 404 to attack-\d+\.hidden\.$/m,
    )
  })

  test('fuzz finds a request that gets 500, and makes it short', async (context) => {
    const server = createServer((request, response) => {
      try {
        decodeURIComponent(request.url ?? '')
        respond(request, response)
      } catch {
        response.writeHead(500, { 'content-length': 0 }).end()
      }
    })
    const findings = await fuzz(await listen(context, server), { seed: 1, requests: 1_500, silenceMs: 2_000 })
    assert.match(
      findings.join('\n'),
      /^Request \d+ of seed 1: 500 came back\. The shortest: "[^"]*%.{0,60}"\.$/m,
    )
  })

  /** Makes a URL of what the client sent, as tutorials do: `GET //` throws, and nothing catches it. */
  const CRASHES = `require('node:http').createServer(({ url, headers }, response) => {
  const { pathname } = new URL(url, 'http://' + headers.host)
  response.writeHead(pathname === '/livez' ? 200 : 404, { 'x-request-id': headers['x-request-id'] }).end()
}).listen(0, '127.0.0.1', function () { console.log(this.address().port) })`

  async function startCrashing(context: TestContext): Promise<Target> {
    const child = spawn(process.execPath, ['-e', CRASHES], { stdio: ['ignore', 'pipe', 'ignore'] })
    context.after(() => child.kill('SIGKILL'))
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    return { host: '127.0.0.1', port: Number(line.toString()) }
  }

  test('fuzz finds the request that ends the process, if it can start the server again', async (context) => {
    const restart = () => startCrashing(context)
    const findings = (await fuzz(await restart(), { seed: 1, requests: 1_500, restart })).join('\n')
    assert.match(findings, /^\/livez gives no response afterwards\.$/m)
    assert.match(findings, /^Request \d+ of seed 1 ends it\. The shortest: ".{1,60}"\.$/m)
  })

  test('fuzz says among which requests the one is that ends a server, if it cannot', async (context) => {
    const findings = await fuzz(await startCrashing(context), { seed: 1, requests: 1_500 })
    assert.match(
      findings.at(-1) ?? '',
      /^The request that ends it is among the last \d+ of seed 1, up to \d+\.$/,
    )
  })

  test('the command line prints what is wrong', async (context) => {
    const reference = await startReference('hello')
    context.after(() => reference.close())
    const run = async (...args: string[]) => {
      const cli = join(import.meta.dirname, '../src/cli.ts')
      const all = [cli, 'hello', formatTarget(reference.target), '--protocol', ...args]
      return startNode(all).ended
    }
    const { code, stdout } = await run()
    assert.equal(code, 1)
    assert.match(stdout, /^RFC 9112 5\.1, space before the colon: 404, 404, and reads on instead of 400\.$/m)
    assert.match(stdout, /^108 forms of RFC 9112, [1-9]\d* not as it demands\n$/m)
  })
})
