import { deepEqual, equal, ok } from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import manifest from '../../dist/page/manifest.json' with { type: 'json' }
import { ASSETS, ASSETS_DIR } from '../../dist/page/server.js'

function read(name: string): Promise<Buffer> {
  return readFile(new URL(name, ASSETS_DIR))
}

test('the manifest lists every file of assets/', async () => {
  deepEqual(ASSETS, manifest)
  const names = ASSETS.flatMap(({ url }) => ['', '.br', '.gz'].map((suffix) => basename(url) + suffix))
  deepEqual((await readdir(ASSETS_DIR)).sort(), names.sort())
})

test('a name has the hash of the content', async () => {
  for (const { url, bytes } of ASSETS) {
    const content = await read(basename(url))
    equal(content.length, bytes)
    ok(url.includes(createHash('sha256').update(content).digest('hex').slice(0, 12)), url)
  }
})

test('compressed siblings decompress to the same bytes and are smaller', async () => {
  for (const name of ASSETS.map(({ url }) => basename(url))) {
    const [plain, br, gz] = await Promise.all([read(name), read(`${name}.br`), read(`${name}.gz`)])
    ok(brotliDecompressSync(br).equals(plain), name)
    ok(gunzipSync(gz).equals(plain), name)
    ok(br.length < gz.length && gz.length < plain.length, name)
  }
})

test('the script is the production build of React', async () => {
  const script = ASSETS.find(({ contentType }) => contentType.startsWith('text/javascript'))
  const source = (await read(basename(script?.url ?? ''))).toString()
  ok(source.includes('Minified React error #'))
  ok(!source.includes('process.env'))
})
