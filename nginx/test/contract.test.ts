import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { claimPort } from '../src/render/address.ts'
import type { Topology } from '../src/render/front.ts'
import { type Instance, startNginx } from '../src/run/instance.ts'
import { candidates } from './support/nginxes.ts'
import { exchange, parse, type RawResponse, request } from './support/raw.ts'
import { type App, startApp } from './support/upstream.ts'

const OWN_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}

const TITLES: Record<number, string> = {
  400: 'Bad Request',
  404: 'Not Found',
  413: 'Content Too Large',
  414: 'URI Too Long',
  431: 'Request Header Fields Too Large',
  502: 'Bad Gateway',
}

function assertProblem(
  response: RawResponse,
  status: number,
  id: string | RegExp = /^[A-Za-z0-9._-]{1,64}$/,
): void {
  const { date, server, connection, ...headers } = response.headers
  const body = `{"type":"about:blank","title":"${TITLES[status]}","status":${status}}`
  assert.equal(response.status, status)
  assert.equal(server, 'nginx')
  assert.ok(date !== undefined && connection !== undefined)
  const { 'x-request-id': sentId, ...others } = headers
  if (typeof id === 'string') assert.equal(sentId, id)
  else assert.match(sentId ?? '', id)
  assert.deepEqual(others, {
    ...OWN_HEADERS,
    'content-type': 'application/problem+json',
    'content-length': String(body.length),
  })
  assert.equal(response.body.toString(), body)
}

const FORGED = ['X-Forwarded-For: 10.1.1.1', 'X-Forwarded-Proto: https', 'X-Forwarded-Host: forged.example']

const ANY = { host: '127.0.0.1', port: 0 }
const TOPOLOGIES: readonly Topology[] = ['nginx', 'nginx-naive', 'nginx-socket', 'nginx-tls']

for (const { choice, nginx, skip } of await candidates()) {
  describe(`${choice}: ${nginx?.version ?? 'absent'}`, { skip }, () => {
    let directory: string
    let tcp: App
    let socket: App
    let instance: Instance

    before(async () => {
      if (nginx === undefined) return
      directory = await mkdtemp(join(tmpdir(), 'startgrid-test-'))
      tcp = await startApp()
      socket = await startApp(join(directory, 'app.sock'))
      const dead = { host: '127.0.0.1', port: await claimPort(ANY) }
      const fronts = [
        ...TOPOLOGIES.map((topology) => ({
          name: `app-${topology}`,
          topology,
          listen: ANY,
          upstream: topology === 'nginx-socket' ? { socketPath: join(directory, 'app.sock') } : tcp.address,
        })),
        { name: 'dead', topology: 'nginx', listen: ANY, upstream: dead } as const,
        { name: 'dead-naive', topology: 'nginx-naive', listen: ANY, upstream: dead } as const,
      ]
      instance = await startNginx(nginx, { fronts })
    })

    after(async () => {
      await instance?.stop()
      await tcp?.close()
      await socket?.close()
      await rm(directory, { recursive: true, force: true })
    })

    for (const [index, topology] of TOPOLOGIES.entries()) {
      const app = () => (topology === 'nginx-socket' ? socket : tcp)
      const address = () => instance.addresses[index] ?? ANY

      describe(topology, () => {
        const targets = [
          ...['/', '/json?x=1&y=%zz', '/a%2Fb', '//json', '/JSON', '/json/', '/x/../json', '/x/./json'],
          ...['/hello/%E2%82%AC', '/hello/a+b', '/hello/%20', '/%6Ason', '/%FF', '/assets/app.js'],
        ]
        test('the app sees the target as it was sent', async () => {
          for (const target of targets) {
            const { status, body } = await request(address(), target)
            assert.equal(status, 200, target)
            assert.deepEqual(JSON.parse(body.toString()), { method: 'GET', url: target })
          }
        })

        test('every method passes with its body', async () => {
          for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND', 'TRACE']) {
            const body = method === 'TRACE' ? '' : 'x=1'
            const response = await request(address(), '/json', { method, body })
            assert.equal(response.status, 200, method)
            assert.deepEqual(JSON.parse(response.body.toString()), { method, url: '/json' })
            assert.equal(app().seen.at(-1)?.body, body)
          }
        })

        test('headers: forged ones of proxies are overwritten, the others untouched, none added to the response', async () => {
          const headers = [...FORGED, 'Accept-Language: de', 'X_Request_Id: spoofed']
          const response = await request(address(), '/json', {
            headers: [...headers, 'X-Request-Id: abc.DEF_1-2'],
          })
          const raw = app().seen.at(-1)?.headers ?? []
          const seen = Object.fromEntries(
            raw.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), raw[at + 1]]] : [])),
          )
          assert.deepEqual(
            { ...seen, connection: undefined },
            {
              connection: undefined,
              host: 'example.test:81',
              'x-forwarded-for': '127.0.0.1',
              'x-forwarded-proto': topology === 'nginx-tls' ? 'https' : 'http',
              'x-forwarded-host': 'example.test:81',
              'x-request-id': 'abc.DEF_1-2',
              'accept-language': 'de',
            },
          )
          assert.deepEqual(Object.keys(response.headers).sort(), [
            ...['connection', 'content-length', 'content-type', 'date', 'server', 'x-request-id'],
          ])
          assert.equal(response.headers['x-request-id'], 'abc.DEF_1-2')
          assert.equal(response.headers.server, 'nginx')
        })

        test('a request id that is missing or not acceptable is replaced', async () => {
          for (const id of ['', 'a b', 'x'.repeat(65), 'ä', '{"a":1}']) {
            const response = await request(address(), '/json', {
              headers: id === '' ? [] : [`x-request-id: ${id}`],
            })
            assert.match(response.headers['x-request-id'] ?? '', /^[0-9a-f]{32}$/, id)
          }
          const longest = 'x'.repeat(64)
          const response = await request(address(), '/', { headers: [`x-request-id: ${longest}`] })
          assert.equal(response.headers['x-request-id'], longest)
        })

        test('HTTP/1.0 without Host reaches the app', async () => {
          const response = parse(await exchange(address(), 'GET /old HTTP/1.0\r\n\r\n'))
          assert.equal(response.status, 200)
          assert.ok(app().seen.at(-1)?.headers.includes('localhost'))
        })

        test('the authority of an absolute target replaces the Host', async () => {
          await request(address(), 'http://other.test:82/x?y')
          const { url, headers = [] } = app().seen.at(-1) ?? {}
          const values = (name: RegExp) =>
            headers.filter((_, at) => at % 2 === 1 && name.test(headers[at - 1] ?? ''))
          assert.equal(url, '/x?y')
          assert.deepEqual(values(/^host$/i), ['other.test:82'])
          assert.deepEqual(values(/^x-forwarded-host$/i), ['other.test:82'])
        })

        test('a Host that is not host[:port], or a fragment: 400', async () => {
          for (const target of ['/json', 'http://other.test/x']) {
            for (const host of ['x@a.test', 'a.test:http', '::1', '[::1', 'a%2'])
              assertProblem(await request(address(), target, { host }), 400)
            assertProblem(await request(address(), `${target}?a#x`), 400)
          }
        })

        test('two Host headers: 400', async () => {
          const headers = ['x-request-id: before', 'Host: other.test']
          assertProblem(await request(address(), '/json', { headers }), 400, 'before')
          assertProblem(await request(address(), '/assets/x', { headers }), 400, 'before')
          assertProblem(await request(address(), '/assets/app.js', { headers: ['Host: b'] }), 400)
        })

        test('an escape that is not hex, or NUL, or a path above the root: 400', async () => {
          for (const target of ['/%zz', '/%', '/json%2', '/hello/%00', '/../json', '/assets/%zz']) {
            assertProblem(await request(address(), target), 400)
          }
          const head = await request(address(), '/%zz', { method: 'HEAD' })
          assert.equal(head.status, 400)
          assert.equal(head.headers['content-length'], '57')
          assert.equal(head.body.length, 0)
        })

        test('a body of 65,536 bytes passes, one more is 413 whatever the path and method', async () => {
          const most = 'b'.repeat(65_536)
          assert.equal((await request(address(), '/echo', { method: 'POST', body: most })).status, 200)
          assert.equal(app().seen.at(-1)?.body.length, 65_536)
          for (const [method, target] of [
            ['POST', '/echo'],
            ['GET', '/nowhere'],
            ['PUT', '/assets/x.js'],
          ] as const) {
            const options = { method, headers: ['x-request-id: big', 'Content-Length: 65537'] }
            assertProblem(await request(address(), target, options), 413, 'big')
          }
        })

        test('400 comes before 413', async () => {
          const options = { method: 'POST', headers: ['Content-Length: 65537'] }
          assertProblem(await request(address(), '/%FF', options), 400)
          assertProblem(await request(address(), '/%C0%AF', options), 400)
          assertProblem(await request(address(), '/%ED%A0%80', options), 400)
          assertProblem(await request(address(), '/%zz', options), 400)
          assertProblem(await request(address(), '/%E2%82%AC%F0%9F%98%80', options), 413)
        })

        test('a chunked body over 65,536 bytes: 413', async () => {
          const chunk = `8000\r\n${'c'.repeat(0x8000)}\r\n`
          const head =
            'POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n'
          assertProblem(parse(await exchange(address(), `${head}${chunk.repeat(3)}0\r\n\r\n`)), 413)
        })

        test('a header section of 16 KiB passes, more is 431 or 414', async () => {
          const fill = (size: number) => {
            const start = 'GET /big HTTP/1.1\r\nHost: a\r\nConnection: close\r\nx-big: '
            return `${start}${'h'.repeat(size - start.length - 4)}\r\n\r\n`
          }
          assert.equal(parse(await exchange(address(), fill(16_000))).status, 200)
          for (const size of [16_385, 17_000, 20_000, 60_000]) {
            assertProblem(parse(await exchange(address(), fill(size))), 431)
          }
          const many = Array.from({ length: 200 }, (_, at) => `x-${at}: ${'v'.repeat(90)}`)
          assertProblem(await request(address(), '/many', { headers: many }), 431)
          assertProblem(await request(address(), `/${'p'.repeat(17_000)}`), 414)
        })

        test("the app's own errors pass untouched", async () => {
          const response = await request(address(), '/app-error')
          assert.equal(response.status, 503)
          assert.equal(response.headers['x-mine'], 'yes')
          assert.equal(response.headers['content-security-policy'], undefined)
          assert.equal(response.body.toString(), 'from the app')
        })

        test('/stream is not buffered', async () => {
          let released = false
          const bytes = await exchange(
            address(),
            'GET /stream HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
            (received) => {
              if (released || !received.includes('<first>')) return false
              // Only now does the app write the second half: it cannot have been waited for.
              released = true
              app().release()
              return false
            },
          )
          assert.ok(released)
          assert.equal(parse(bytes).body.toString(), '<first><second>')
        })

        test('the ceiling is the response of hello', async () => {
          const { status, headers, body } = await request(address(), '/ceiling')
          assert.equal(status, 200)
          assert.equal(headers['content-type'], 'text/plain; charset=utf-8')
          assert.equal(headers['content-security-policy'], OWN_HEADERS['content-security-policy'])
          assert.equal(body.toString(), 'Hello World!')
        })
      })
    }

    test('connections to the app: kept by nginx and nginx-socket, new each time by nginx-naive', async () => {
      const count = async (index: number, app: App) => {
        const earlier = app.connections()
        for (let at = 0; at < 50; at++) await request(instance.addresses[index] ?? ANY, '/count')
        return app.connections() - earlier
      }
      assert.ok((await count(0, tcp)) <= 1)
      assert.equal(await count(1, tcp), 50)
      assert.ok((await count(2, socket)) <= 1)
    })

    test('no app behind: 502 with the headers of the contract', async () => {
      for (const address of instance.addresses.slice(TOPOLOGIES.length)) {
        const response = await request(address, '/script.js', { headers: ['x-request-id: down'] })
        assertProblem(response, 502, 'down')
      }
    })
  })
}
