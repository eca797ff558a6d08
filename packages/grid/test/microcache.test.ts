import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { claimPort } from '@startgrid/nginx/address.ts'
import { findNginx } from '@startgrid/nginx/find.ts'
import { type Instance, startNginx } from '@startgrid/nginx/instance.ts'
import { renderNginx } from '@startgrid/nginx/render.ts'
import { APPS } from '../src/apps.ts'
import { type Launch, launch } from '../src/launcher.ts'

/** That `server/microcache.conf` gives nobody what is another client's, also in front of everything. */

const nginx = await findNginx()
const skip = nginx.kind === 'none' && nginx.describe()

describe('microcache', { skip }, () => {
  let page: Launch
  const instances: Instance[] = []
  const shop = createServer(({ url }, response) => {
    if (url === '/own') response.setHeader('set-cookie', `visit=${Math.random()}`)
    response.setHeader('x-request-id', String(Math.random())).end(String(Math.random()))
  })

  before(async () => {
    const app = APPS.find(({ name }) => name === 'node/ssr')
    if (app === undefined) throw new Error('There is no node/ssr.')
    page = await launch(app)
    await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
  })
  after(async () => {
    for (const instance of instances) await instance.stop()
    await page?.stop()
    shop.close()
  })

  /** @param more lines of the location beside the include */
  async function cache(upstream: { host: string; port: number }, more = ''): Promise<string> {
    if (nginx.kind === 'none') throw new Error('skipped')
    const listen = { host: '127.0.0.1', port: await claimPort({ host: '127.0.0.1', port: 0 }) }
    const fronts = [{ name: 'app', topology: 'nginx', listen, upstream } as const]
    const instance = await startNginx(nginx, {
      listen: [listen],
      config: (place) =>
        renderNginx({
          ...place,
          fronts,
          blocks: [`proxy_cache_path "${place.dir}/microcache" keys_zone=microcache:1m use_temp_path=off;`],
        }).replace(
          /location \/ \{\n.*add_header.*\n/,
          `location / {\n include startgrid/server/microcache.conf;\n${more}\n`,
        ),
    })
    instances.push(instance)
    return `http://127.0.0.1:${listen.port}`
  }

  const shopAddress = () => {
    const address = shop.address()
    return { host: '127.0.0.1', port: typeof address === 'object' && address !== null ? address.port : 0 }
  }

  /** Whether a second client gets a nonce, an id or a cookie of the first one. It asks often, because an entry ends within a second. */
  async function leaks(origin: string, path: string): Promise<boolean> {
    const seen = new Set<string>()
    let count = 0
    for (let client = 0; client < 20; client++) {
      const response = await fetch(`${origin}${path}`)
      const text = await response.text()
      const own = [
        response.headers.get('x-request-id'),
        response.headers.get('set-cookie'),
        /nonce="([^"]+)"/.exec(text)?.[1],
        /'nonce-([^']+)'/.exec(response.headers.get('content-security-policy') ?? '')?.[1],
      ].filter((value) => typeof value === 'string')
      // The nonce stands twice in one response.
      const values = new Set(own)
      count += values.size
      for (const value of values) seen.add(value)
    }
    return seen.size < count
  }

  test('the page of the contract is never given to a second client', async () => {
    if ('socketPath' in page.target) return
    assert.equal(await leaks(await cache(page.target), '/'), false)
  })

  test('without the rule against `private` it would be', async () => {
    if ('socketPath' in page.target) return
    assert.equal(await leaks(await cache(page.target, 'proxy_ignore_headers Cache-Control;'), '/'), true)
  })

  test('what is the same for everybody is stored, under an id of its own; what sets a cookie or is asked for with one is not', async () => {
    const origin = await cache(shopAddress())
    const bodies = async (path: string, headers = {}) =>
      new Set(
        await Promise.all(
          Array.from({ length: 20 }, async () => (await fetch(`${origin}${path}`, { headers })).text()),
        ),
      )
    await fetch(`${origin}/tea`)
    assert.ok((await bodies('/tea')).size < 20)
    assert.equal(await leaks(origin, '/tea'), false)
    assert.equal((await bodies('/own')).size, 20)
    assert.equal((await bodies('/tea', { cookie: 'session=Ada' })).size, 20)
    assert.equal((await bodies('/tea', { authorization: 'Basic QQ==' })).size, 20)
  })
})
