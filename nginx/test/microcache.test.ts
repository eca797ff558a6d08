import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { claimPort } from '../src/render/address.ts'
import { renderNginx } from '../src/render/render.ts'
import type { Instance } from '../src/run/instance.ts'
import { ANY, frontOf, skip, start } from './support/nginx.ts'

/** That `server/microcache.conf` gives nobody what is another client's, also in front of everything. */

describe('microcache', { skip }, () => {
  let shop: Server
  const instances: Instance[] = []

  before(async () => {
    // Each response has an id of its own. A page says that it is private, as those of the apps do; /own only sets a cookie.
    shop = createServer(({ url }, response) => {
      if (url === '/page') response.setHeader('cache-control', 'private, no-store')
      if (url === '/own') response.setHeader('set-cookie', `visit=${Math.random()}`)
      response.setHeader('x-request-id', String(Math.random())).end(String(Math.random()))
    })
    await once(shop.listen(0, '127.0.0.1'), 'listening')
  })
  after(async () => {
    for (const instance of instances) await instance.stop()
    shop?.close()
  })

  /** @param more lines of the location beside the include */
  async function cache(more = ''): Promise<string> {
    const listen = { ...ANY, port: await claimPort(ANY) }
    const upstream = { ...ANY, port: (shop.address() as AddressInfo).port }
    const instance = await start({
      listen: [listen],
      config: (main) =>
        renderNginx({
          ...main,
          fronts: [frontOf(upstream, { listen })],
          blocks: [`proxy_cache_path "${main.dir}/microcache" keys_zone=microcache:1m use_temp_path=off;`],
        }).replace(
          /location \/ \{\n.*add_header.*\n/,
          `location / {\n include startgrid/server/microcache.conf;\n${more}\n`,
        ),
    })
    instances.push(instance)
    return `http://127.0.0.1:${listen.port}`
  }

  /** How many different bodies and ids 20 clients get; many, because an entry ends within a second. */
  async function ask(url: string, headers: Record<string, string> = {}) {
    const responses = await Promise.all(Array.from({ length: 20 }, () => fetch(url, { headers })))
    const bodies = await Promise.all(responses.map((response) => response.text()))
    const ids = responses.map((response) => response.headers.get('x-request-id'))
    return { bodies: new Set(bodies).size, ids: new Set(ids).size }
  }

  test('a private page is never given to a second client', async () => {
    assert.deepEqual(await ask(`${await cache()}/page`), { bodies: 20, ids: 20 })
  })

  test('without the rule against `private` it would be', async () => {
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
