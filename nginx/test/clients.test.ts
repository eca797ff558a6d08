import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { claimPort } from '../src/render/address.ts'
import { renderNginx } from '../src/render/render.ts'
import type { Instance } from '../src/run/instance.ts'
import { ANY, addressOf, frontOf, request, serve, skip, start } from './support.ts'

/** What one client asks for must not harm another. */

/** Two copies of an app behind NGINX. To NGINX, each of these responses is a failure of the copy, and a client can ask for it. */
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

type Copy = Awaited<ReturnType<typeof startCopy>>

async function startCopy() {
  const { server, address } = await serve(({ url = '', socket }, response) => {
    const bytes = PROVOKED[url]
    if (url === '/cut') copy.cut++
    if (bytes !== undefined) socket.end(bytes)
    else if (url === '/freeze' || copy.frozen > 0) copy.frozen++
    else if (url === '/long') socket.end(headOf(16_384))
    else response.end()
  })
  /** Requests for `/cut`, and those that it has not answered since one asked for `/freeze`. */
  const copy = { address, server, cut: 0, frozen: 0 }
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

  const ask = async (target: string, method = 'GET') => {
    const { status } = await request(addressOf(instance), target, { method })
    return status
  }

  for (const target of Object.keys(PROVOKED)) {
    test(`while one client asks for ${target}, the others get their responses`, async () => {
      const others: number[] = []
      for (let n = 0; n < 20; n++) {
        await ask(target, n % 2 === 0 ? 'GET' : 'POST')
        others.push(await ask('/'), await ask('/', 'POST'), await ask('/'))
      }
      assert.deepEqual([...new Set(others)], [200])
    })
  }

  test('a head of 16 KiB passes', async () => assert.equal(await ask('/long'), 302))

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

/** `server/microcache.conf` gives nobody what is another client's, also in front of everything. */
describe('microcache', { skip }, () => {
  let shop: Awaited<ReturnType<typeof serve>>

  before(async () => {
    // Each response has an id of its own. A page says that it is private, as those of the apps do; /own only sets a cookie.
    shop = await serve(({ url }, response) => {
      if (url === '/page') response.setHeader('cache-control', 'private, no-store')
      if (url === '/own') response.setHeader('set-cookie', `visit=${Math.random()}`)
      response.setHeader('x-request-id', String(Math.random())).end(String(Math.random()))
    })
  })

  /** @param more lines of the location beside the include */
  async function cache(more = ''): Promise<string> {
    const listen = { ...ANY, port: await claimPort(ANY) }
    await start({
      listen: [listen],
      config: (main) =>
        renderNginx({
          ...main,
          fronts: [frontOf(shop.address, { listen })],
          blocks: [`proxy_cache_path "${main.dir}/microcache" keys_zone=microcache:1m use_temp_path=off;`],
        }).replace(
          /location \/ \{\n.*add_header.*\n/,
          `location / {\n include startgrid/server/microcache.conf;\n${more}\n`,
        ),
    })
    return `http://127.0.0.1:${listen.port}`
  }

  /** How many different bodies and ids 20 clients get; many, because an entry ends within a second. */
  async function ask(url: string, headers: Record<string, string> = {}) {
    const responses = await Promise.all(Array.from({ length: 20 }, () => fetch(url, { headers })))
    const bodies = await Promise.all(responses.map((response) => response.text()))
    const ids = responses.map((response) => response.headers.get('x-request-id'))
    return { bodies: new Set(bodies).size, ids: new Set(ids).size }
  }

  test('a private page is never given to a second client; without the rule against `private` it would be', async () => {
    assert.deepEqual(await ask(`${await cache()}/page`), { bodies: 20, ids: 20 })
    assert.ok((await ask(`${await cache('proxy_ignore_headers Cache-Control;')}/page`)).bodies < 20)
  })

  test('what is the same for everybody is stored, under an id of its own; what sets a cookie or is asked for with one is not', async () => {
    const origin = await cache()
    await fetch(`${origin}/tea`)
    const { bodies, ids } = await ask(`${origin}/tea`)
    assert.ok(bodies < 20)
    assert.equal(ids, 20)
    assert.equal((await ask(`${origin}/own`)).bodies, 20)
    assert.equal((await ask(`${origin}/tea`, { cookie: 'session=Ada' })).bodies, 20)
    assert.equal((await ask(`${origin}/tea`, { authorization: 'Basic QQ==' })).bodies, 20)
  })
})
