import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Instance } from '../src/run/instance.ts'
import { request } from './support/client.ts'
import { ANY, frontOf, skip, start } from './support/nginx.ts'

/**
 * Two copies of an app behind NGINX. To NGINX, each of these responses is a failure of the copy, and a client can ask for it: then no other client
 * may lose a request.
 */

const PROVOKED: Readonly<Record<string, string>> = {
  '/long-head': headOf(16_385),
  '/cut': '',
  '/cut-in-the-head': 'HTTP/1.1 200 OK\r\ncontent-',
  '/two-lengths': 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
  '/no-header': 'HTTP/1.1 200 OK\r\n\u0000: none\r\n\r\n',
}

/** A response head of so many bytes. */
function headOf(bytes: number): string {
  const [before, after] = ['HTTP/1.1 302 Found\r\nlocation: /', '\r\n\r\n']
  return before + 'l'.repeat(bytes - before.length - after.length) + after
}

interface Copy {
  readonly address: { host: string; port: number }
  readonly server: Server
  /** Requests for `/cut`. */
  cut: number
  /** Requests that it has not answered since one asked for `/freeze`. */
  frozen: number
}

async function startCopy(): Promise<Copy> {
  const server = createServer((incoming, response) => {
    const { url = '', socket } = incoming
    const bytes = PROVOKED[url]
    if (url === '/cut') copy.cut++
    if (bytes !== undefined) socket.end(bytes)
    else if (url === '/freeze' || copy.frozen > 0) copy.frozen++
    else if (url === '/long') socket.end(headOf(16_384))
    else response.end()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const copy = { address: { ...ANY, port }, server, cut: 0, frozen: 0 }
  return copy
}

describe('failures', { skip }, () => {
  let copies: Copy[]
  let instance: Instance

  before(async () => {
    copies = [await startCopy(), await startCopy()]
    const [upstream = ANY, ...others] = copies.map(({ address }) => address)
    instance = await start({ workers: 2, fronts: [frontOf(upstream, { copies: others })] })
  })

  after(async () => {
    await instance?.stop()
    for (const { server } of copies ?? []) {
      server.close()
      server.closeAllConnections()
    }
  })

  const ask = async (target: string, method = 'GET') => {
    const { status } = await request(instance.addresses[0] ?? ANY, target, { method })
    return status
  }

  for (const target of Object.keys(PROVOKED)) {
    test(`while one client asks for ${target}, the others get their responses`, async () => {
      const others: number[] = []
      for (let n = 0; n < 20; n++) {
        await ask(target, n % 2 === 0 ? 'GET' : 'POST')
        others.push(await ask('/'), await ask('/', 'POST'), await ask('/'))
      }
      assert.ok(
        others.every((status) => status === 200),
        others.join(),
      )
    })
  }

  test('a head of 16 KiB passes', async () => {
    assert.equal(await ask('/long'), 302)
  })

  test('what was cut off is sent again to the other copy, except for a POST: nobody knows whether it was obeyed', async () => {
    const cut = () => copies.reduce((sum, copy) => sum + copy.cut, 0)
    const before = cut()
    assert.equal(await ask('/cut', 'POST'), 502)
    assert.equal(cut(), before + 1)
    assert.equal(await ask('/cut'), 502)
    assert.equal(cut(), before + 3)
  })

  test('a copy that never responds gets no further request while others respond', async () => {
    const waiting = ask('/freeze', 'POST')
    while (!copies.some(({ frozen }) => frozen > 0)) await sleep(5)
    try {
      for (let n = 0; n < 20; n++) assert.equal(await ask('/'), 200)
      assert.deepEqual(copies.map(({ frozen }) => frozen).sort(), [0, 1])
    } finally {
      for (const { server } of copies) server.closeAllConnections()
      await waiting
    }
  })
})
