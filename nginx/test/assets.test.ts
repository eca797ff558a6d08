import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { type Instance, startNginx } from '../src/run/instance.ts'
import { candidates } from './support/nginxes.ts'
import { type RawResponse, request } from './support/raw.ts'
import { type App, startApp } from './support/upstream.ts'

const SCRIPT = 'app-4F7K2QXB.js'
const STYLE = 'page-A1B2C3D4.css'
const TINY = 'tiny-00000000.svg'

async function makeAssets(directory: string): Promise<void> {
  const script = `console.log(${JSON.stringify('startgrid '.repeat(400))})\n`
  await writeFile(join(directory, SCRIPT), script)
  await writeFile(join(directory, `${SCRIPT}.br`), brotliCompressSync(script))
  await writeFile(join(directory, `${SCRIPT}.gz`), gzipSync(script))
  // Only gzip, and nothing at all: whatever the build left out is served plain.
  await writeFile(join(directory, STYLE), 'body{margin:0}\n')
  await writeFile(join(directory, `${STYLE}.gz`), gzipSync('body{margin:0}\n'))
  await writeFile(join(directory, TINY), '<svg xmlns="http://www.w3.org/2000/svg"/>')
  await mkdir(join(directory, 'folder'))
  await writeFile(join(directory, 'folder', 'inside.js'), '1')
  await writeFile(join(directory, '.hidden.js'), '1')
}

/** What every response of NGINX has, whatever it is. */
const COMMON = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-request-id': 'asset',
  server: 'nginx',
  connection: 'close',
}

function assertHeaders(response: RawResponse, expected: Record<string, string>): void {
  const { date, ...headers } = response.headers
  assert.ok(date !== undefined)
  assert.deepEqual(headers, { ...COMMON, ...expected })
}

const CACHED = { 'cache-control': 'public, max-age=31536000, immutable', vary: 'Accept-Encoding' }
const ALLOW = { allow: 'GET, HEAD' }

function problem(status: number, title: string) {
  const body = `{"type":"about:blank","title":"${title}","status":${status}}`
  return { 'content-type': 'application/problem+json', 'content-length': String(body.length) }
}

for (const { choice, nginx, skip } of await candidates()) {
  describe(`${choice}: ${nginx?.version ?? 'absent'}`, { skip }, () => {
    let directory: string
    let app: App
    let instance: Instance

    before(async () => {
      if (nginx === undefined) return
      directory = await mkdtemp(join(tmpdir(), 'startgrid-assets-'))
      await makeAssets(directory)
      app = await startApp()
      const listen = { host: '127.0.0.1', port: 0 }
      const common = { listen, upstream: app.address, serveAssets: directory }
      instance = await startNginx(nginx, {
        fronts: [
          { name: 'tuned', topology: 'nginx', ...common },
          { name: 'naive', topology: 'nginx-naive', ...common },
        ],
      })
    })

    after(async () => {
      await instance?.stop()
      await app?.close()
      await rm(directory, { recursive: true, force: true })
    })

    const get = (target: string, options: Parameters<typeof request>[2] = {}) => {
      const [address = { host: '', port: 0 }] = instance.addresses
      return request(address, target, {
        ...options,
        headers: ['x-request-id: asset', ...(options.headers ?? [])],
      })
    }
    const getCoded = (target: string, accept: string) =>
      get(target, { headers: [`Accept-Encoding: ${accept}`] })

    test('a file: bytes, type, validator, and nothing more', async () => {
      for (const [name, type] of [
        [SCRIPT, 'text/javascript; charset=utf-8'],
        [STYLE, 'text/css; charset=utf-8'],
        [TINY, 'image/svg+xml'],
      ] as const) {
        const content = await readFile(join(directory, name))
        const response = await get(`/assets/${name}?v=1`)
        assert.equal(response.status, 200)
        assert.deepEqual(response.body, content)
        const { etag = '' } = response.headers
        assert.match(etag, /^"[0-9a-f]+-[0-9a-f]+"$/)
        const length = String(content.length)
        assertHeaders(response, { ...CACHED, etag, 'content-type': type, 'content-length': length })
      }
    })

    test('behind nginx-naive too', async () => {
      const address = instance.addresses[1] ?? { host: '', port: 0 }
      const response = await request(address, `/assets/${SCRIPT}`)
      assert.deepEqual(response.body, await readFile(join(directory, SCRIPT)))
    })

    const accepts: [string, '' | '.br' | '.gz'][] = [
      ['gzip, deflate, br', '.br'],
      ['br', '.br'],
      ['BR', '.br'],
      ['br;q=0.1, gzip;q=1.0', '.br'],
      ['gzip;q=1.0 , br ; q=0.001', '.br'],
      ['*', '.br'],
      ['gzip;q=0, *;q=0.5', '.br'],
      ['gzip', '.gz'],
      ['gzip, br;q=0', '.gz'],
      ['br;q=0.000, *', '.gz'],
      ['gzip, br; q=0.0, *;q=0', '.gz'],
      ['', ''],
      ['identity', ''],
      ['gzip;q=0, br;q=0', ''],
      ['*;q=0', ''],
      ['brotli, xgzip, gzipx', ''],
      ['deflate', ''],
    ]
    test('br if accepted, else gzip, else plain; q=0 is a refusal', async () => {
      for (const [accept, suffix] of accepts) {
        const content = await readFile(join(directory, SCRIPT + suffix))
        const response = await getCoded(`/assets/${SCRIPT}`, accept)
        assert.deepEqual(response.body, content, accept)
        const coding = { '': undefined, '.br': 'br', '.gz': 'gzip' }[suffix]
        const { etag = '' } = response.headers
        assertHeaders(response, {
          ...CACHED,
          etag,
          'content-type': 'text/javascript; charset=utf-8',
          'content-length': String(content.length),
          ...(coding === undefined ? {} : { 'content-encoding': coding }),
        })
      }
    })

    test('a coding that was not built is not claimed', async () => {
      assert.equal((await getCoded(`/assets/${STYLE}`, 'br, gzip')).headers['content-encoding'], 'gzip')
      const tiny = await getCoded(`/assets/${TINY}`, 'br, gzip')
      assert.equal(tiny.headers['content-encoding'], undefined)
      assert.deepEqual(tiny.body, await readFile(join(directory, TINY)))
    })

    test('304: no body, no description of one', async () => {
      const first = await getCoded(`/assets/${SCRIPT}`, 'br')
      const { etag = '' } = first.headers
      for (const match of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const headers = ['Accept-Encoding: br', `If-None-Match: ${match}`]
        const response = await get(`/assets/${SCRIPT}`, { headers })
        assert.equal(response.status, 304, match)
        assert.equal(response.body.length, 0)
        assertHeaders(response, { ...CACHED, etag })
      }
      // Another coding is another representation.
      assert.equal((await get(`/assets/${SCRIPT}`, { headers: [`If-None-Match: ${etag}`] })).status, 200)
      assert.equal((await get(`/assets/${SCRIPT}`, { headers: ['If-None-Match: "x"'] })).status, 200)
    })

    test('if-modified-since and range mean nothing', async () => {
      const later = new Date(Date.now() + 86_400_000).toUTCString()
      for (const header of [`If-Modified-Since: ${later}`, 'Range: bytes=0-3', 'Range: bytes=999999-']) {
        const response = await get(`/assets/${SCRIPT}`, { headers: [header] })
        assert.equal(response.status, 200, header)
        assert.deepEqual(response.body, await readFile(join(directory, SCRIPT)))
        assert.equal(response.headers['accept-ranges'], undefined)
        assert.equal(response.headers['last-modified'], undefined)
      }
    })

    test('a failed precondition is a problem as well', async () => {
      const response = await get(`/assets/${SCRIPT}`, { headers: ['If-Match: "x"'] })
      assert.equal(response.status, 412)
      assertHeaders(response, problem(412, 'Precondition Failed'))
    })

    test('HEAD is GET without the body', async () => {
      const options = { headers: ['Accept-Encoding: gzip'] }
      const full = await get(`/assets/${SCRIPT}`, options)
      const head = await get(`/assets/${SCRIPT}`, { ...options, method: 'HEAD' })
      assert.equal(head.status, 200)
      assert.equal(head.body.length, 0)
      assert.deepEqual({ ...head.headers, date: '' }, { ...full.headers, date: '' })
      assert.equal((await get('/assets/none.js', { method: 'HEAD' })).status, 404)
    })

    test('other methods are 405, whether the file exists or not', async () => {
      for (const name of [SCRIPT, 'none.js', `${SCRIPT}.br`]) {
        for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND']) {
          const response = await get(`/assets/${name}`, { method, body: 'x' })
          assert.equal(response.status, 405, method)
          assertHeaders(response, { ...ALLOW, ...problem(405, 'Method Not Allowed') })
        }
      }
    })

    test('unknown names, folders and the prebuilt siblings: 404', async () => {
      for (const name of [
        'none.js',
        'folder',
        `${SCRIPT}.br`,
        `${SCRIPT}.gz`,
        `${STYLE}.br`,
        'x'.repeat(300),
      ]) {
        const response = await getCoded(`/assets/${name}`, 'br')
        assert.equal(response.status, 404, name)
        assertHeaders(response, problem(404, 'Not Found'))
      }
    })

    test('any other spelling of the path goes to the app as it is', async () => {
      for (const target of [
        ...['/assets', '/assets/', '/assets/?x', '/assets/.', '/assets/..', '/assets/.hidden.js'],
        ...['/assets/folder/inside.js', `/assets/./${SCRIPT}`, `/assets//${SCRIPT}`, `//assets/${SCRIPT}`],
        ...[`/x/../assets/${SCRIPT}`, `/assets/x/../${SCRIPT}`, `/assets%2F${SCRIPT}`, `/%61ssets/${SCRIPT}`],
        ...[`/assets/x%2F..%2F${SCRIPT}`, '/assets/%2e%2e%2fassets', `/Assets/${SCRIPT}`, '/assets/%FF'],
        `/assets/${SCRIPT.replace('a', '%61')}`,
      ]) {
        const { status, body } = await get(target)
        assert.equal(status, 200, target)
        assert.deepEqual(JSON.parse(body.toString()), { method: 'GET', url: target })
      }
    })

    test("NGINX's own locations cannot be asked for", async () => {
      for (const target of [`/-/assets/${SCRIPT}`, '/-/problem']) {
        const response = await get(target)
        assert.equal(response.status, 404, target)
        assertHeaders(response, problem(404, 'Not Found'))
      }
    })

    test('a broken escape: 400', async () => {
      assert.equal((await get('/assets/%zz.js')).status, 400)
    })
  })
}
