import assert from 'node:assert/strict'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { Instance } from '../src/run/instance.ts'
import {
  addressOf,
  app,
  assertOwn,
  assertProblem,
  frontOf,
  makeDirectory,
  request,
  type Sent,
  skip,
  start,
} from './support.ts'

const SCRIPT = 'app-4F7K2QXB.js'
const STYLE = 'page-A1B2C3D4.css'
const TINY = 'tiny-00000000.svg'

async function makeAssets(directory: string): Promise<void> {
  const script = `console.log(${JSON.stringify('startgrid '.repeat(400))})\n`
  const style = 'body{margin:0}\n'
  await mkdir(join(directory, 'folder'))
  for (const [name, content] of Object.entries({
    [SCRIPT]: script,
    [`${SCRIPT}.br`]: brotliCompressSync(script),
    [`${SCRIPT}.gz`]: gzipSync(script),
    // Only gzip, and nothing at all: whatever the build left out is served plain.
    [STYLE]: style,
    [`${STYLE}.gz`]: gzipSync(style),
    [TINY]: '<svg xmlns="http://www.w3.org/2000/svg"/>',
    'folder/inside.js': '1',
    '.hidden.js': '1',
  }))
    await writeFile(join(directory, name), content)
}

/** Of each file, whatever its coding. */
const CACHED = {
  'cache-control': 'public, max-age=31536000, immutable',
  vary: 'Accept-Encoding',
  'x-request-id': 'asset',
}

/** By the suffix of the file that is sent. */
const ACCEPTS = {
  '.br': ['gzip, deflate, br', 'BR', 'br;q=0.1, gzip;q=1.0', 'gzip , br ; q=0.001'],
  '.gz': ['gzip', 'gzip, br;q=0', 'gzip, br; q=0.0'],
  '': ['', 'identity', 'gzip;q=0, br;q=0', 'brotli, xgzip, gzipx'],
}

const CODINGS: Readonly<Record<string, string>> = { '.br': 'br', '.gz': 'gzip' }

describe('assets', { skip }, () => {
  const directory = makeDirectory('startgrid ässets-')
  let instance: Instance

  before(async () => {
    await makeAssets(directory)
    instance = await start({ fronts: [frontOf(app.address, { serveAssets: directory })] })
  })

  const ask = (target: string, { headers = [], ...options }: Omit<Sent, 'target'> = {}) =>
    request(addressOf(instance), target, { ...options, headers: ['x-request-id: asset', ...headers] })
  const file = (name: string) => readFile(join(directory, name))
  const asset = (name: string, ...headers: readonly string[]) => ask(`/assets/${name}`, { headers })

  test('a file: bytes, type, validator, and nothing more', async () => {
    for (const [name, type] of [
      [SCRIPT, 'text/javascript; charset=utf-8'],
      [STYLE, 'text/css; charset=utf-8'],
      [TINY, 'image/svg+xml'],
    ] as const) {
      const content = await file(name)
      const response = await asset(`${name}?v=1`)
      assert.deepEqual([response.status, response.body], [200, content])
      const { etag = '', 'last-modified': changed = '', ...others } = response.headers
      assert.ok(etag !== '' && Date.parse(changed) > 0)
      const own = { 'accept-ranges': 'bytes', 'content-type': type, 'content-length': `${content.length}` }
      assertOwn({ ...response, headers: others }, { ...CACHED, ...own })
    }
  })

  test('br if accepted, else gzip, else plain; q=0 is a refusal, and what was not built is not claimed', async () => {
    const { headers } = await asset(SCRIPT)
    for (const [suffix, accepts] of Object.entries(ACCEPTS)) {
      const content = await file(SCRIPT + suffix)
      const coding = CODINGS[suffix]
      for (const accept of accepts) {
        const response = await asset(SCRIPT, `Accept-Encoding: ${accept}`)
        assert.deepEqual(response.body, content, accept)
        const { date = '', etag = '' } = response.headers
        const own = { date, etag, 'content-length': `${content.length}` }
        const expected = { ...headers, ...own, ...(coding !== undefined && { 'content-encoding': coding }) }
        assert.deepEqual(response.headers, expected, accept)
      }
    }
    const both = 'Accept-Encoding: br, gzip'
    assert.equal((await asset(STYLE, both)).headers['content-encoding'], 'gzip')
    const tiny = await asset(TINY, both)
    assert.deepEqual([tiny.headers['content-encoding'], tiny.body], [undefined, await file(TINY)])
  })

  test('304 has no body, and another coding is another representation; HEAD is GET without body', async () => {
    const br = 'Accept-Encoding: br'
    const { etag = '', 'last-modified': changed = '' } = (await asset(SCRIPT, br)).headers
    const response = await asset(SCRIPT, `If-None-Match: ${etag}`, br)
    assert.deepEqual([response.status, response.body.length], [304, 0])
    assertOwn(response, { ...CACHED, etag, 'last-modified': changed, 'content-encoding': 'br' })
    const full = await asset(SCRIPT, `If-None-Match: ${etag}`)
    assert.equal(full.status, 200)
    const head = await ask(`/assets/${SCRIPT}`, { method: 'HEAD' })
    assert.deepEqual([head.status, head.body.length], [200, 0])
    assert.deepEqual({ ...head.headers, date: '' }, { ...full.headers, date: '' })
  })

  test('other methods, unknown names, folders, prebuilt siblings, and locations of NGINX itself: 404', async () => {
    const names = ['none.js', 'folder', `${SCRIPT}.br`, `${SCRIPT}.gz`, `${STYLE}.br`, 'x'.repeat(300)]
    for (const target of [...names.map((name) => `/assets/${name}`), '/-/problem'])
      assertProblem(await ask(target, { headers: ['Accept-Encoding: br'] }), 404)
    for (const method of ['POST', 'OPTIONS'])
      assertProblem(await ask(`/assets/${SCRIPT}`, { method, body: 'x' }), 404)
    assertProblem(await asset(SCRIPT, 'If-Match: "x"'), 412)
  })

  test('what is no name of a file goes to the app as it is', async () => {
    const others = ['', '.hidden.js', 'folder/inside.js', `/${SCRIPT}`, '%FF', '%2e%2e%2fpackage.json']
    for (const target of others.map((path) => `/assets/${path}`)) {
      const { status, body } = await ask(target)
      assert.equal(status, 200, target)
      assert.deepEqual(JSON.parse(body.toString()), { method: 'GET', url: target })
    }
  })
})
