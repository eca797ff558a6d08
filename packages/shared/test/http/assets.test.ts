import { deepEqual, doesNotThrow, equal, notEqual, throws } from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import {
  accepts,
  findAsset,
  isFresh,
  prepareAssetRequest,
  readAssets,
  requireAssets,
} from '../../src/http/assets.ts'

let directory = ''
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'startgrid-assets-'))
  const files = {
    'a.js': 'plain',
    'a.js.br': 'brotli',
    'a.js.gz': 'gzip',
    'b.css': 'plain',
    'c.mp9': 'plain',
  }
  for (const [name, content] of Object.entries(files)) await writeFile(join(directory, name), content)
})
after(() => rm(directory, { recursive: true }))

const read = () => readAssets(pathToFileURL(`${directory}/`))

test('reads assets with their types, and their siblings not as assets', () => {
  deepEqual([...read()].map(([name, codings]) => [name, codings.get(undefined)?.type]).sort(), [
    ['a.js', 'text/javascript; charset=utf-8'],
    ['b.css', 'text/css; charset=utf-8'],
    ['c.mp9', 'application/octet-stream'],
  ])
})

test('a file that a page names, but that is not there, is one sentence', () => {
  const require = (...urls: string[]) => {
    return () => requireAssets(urls, pathToFileURL(`${directory}/`))
  }
  doesNotThrow(require('/assets/a.js', '/assets/b.css'))
  throws(require('/assets/a.js', '/assets/d.js'), {
    name: 'StartError',
    message: `${join(directory, 'd.js')} cannot be read, but the page needs it: build first.`,
  })
})

test('finds the best that the client accepts', () => {
  for (const [acceptEncoding, coding, content] of [
    ['gzip, br', 'br', 'brotli'],
    ['gzip', 'gzip', 'gzip'],
    ['br;q=0, gzip', 'gzip', 'gzip'],
    ['br;q=0.1, gzip;q=1', 'br', 'brotli'],
    ['*', 'br', 'brotli'],
    ['identity', undefined, 'plain'],
    ['', undefined, 'plain'],
    [undefined, undefined, 'plain'],
    [null, undefined, 'plain'],
  ] as const) {
    const found = findAsset(read(), 'a.js', acceptEncoding)
    deepEqual([found?.coding, found?.bytes.toString()], [coding, content], acceptEncoding ?? 'none')
    equal(found?.type, 'text/javascript; charset=utf-8')
  }
})

test('falls back where a coding is missing, and finds nothing for an unknown name', () => {
  equal(findAsset(read(), 'b.css', 'br')?.bytes.toString(), 'plain')
  for (const name of ['c.txt', 'a.js.br', '', '../a.js', 'constructor'])
    equal(findAsset(read(), name, 'br'), undefined)
})

test('each representation has its own entity tag', () => {
  const assets = read()
  notEqual(findAsset(assets, 'a.js', 'br')?.etag, findAsset(assets, 'a.js', 'gzip')?.etag)
  equal(findAsset(assets, 'a.js', '')?.etag, findAsset(assets, 'b.css', '')?.etag)
})

test('knows whether a coding is accepted', () => {
  for (const [acceptEncoding, expected] of [
    ['br', true],
    ['BR', true],
    ['gzip,br', true],
    ['gzip ; q=1 , br ; q=0.001', true],
    ['br;q=0', false],
    ['br; q=0.000', false],
    ['br;q = 0', false],
    ['*', true],
    ['*;q=0', false],
    ['*, br;q=0', false],
    ['br;q=0, *', false],
    ['*;q=0, br', true],
    ['gzip', false],
    ['brotli', false],
    ['', false],
    [undefined, false],
    [null, false],
  ] as const)
    equal(accepts(acceptEncoding, 'br'), expected, acceptEncoding ?? 'none')
})

test('knows whether the client has it already', () => {
  for (const [ifNoneMatch, etag, expected] of [
    ['"a"', '"a"', true],
    ['W/"a"', '"a"', true],
    ['"a"', 'W/"a"', true],
    ['"b", W/"a"', '"a"', true],
    ['"b","a"', '"a"', true],
    [' * ', '"a"', true],
    ['"b"', '"a"', false],
    ['"aa"', '"a"', false],
    ['"A"', '"a"', false],
    ['a', '"a"', false],
    ['', '"a"', false],
    [undefined, '"a"', false],
    [null, '"a"', false],
  ] as const)
    equal(isFresh(ifNoneMatch, etag), expected, ifNoneMatch ?? 'none')
})

test('leaves a static file plugin one coding and only names of assets', () => {
  const prepare = (url: string, acceptEncoding?: string) => {
    const request = new IncomingMessage(new Socket())
    request.url = url
    if (acceptEncoding !== undefined) request.headers['accept-encoding'] = acceptEncoding
    const isAsset = prepareAssetRequest(request, (coding) => accepts(acceptEncoding, coding))
    return [isAsset, request.headers['accept-encoding']]
  }
  deepEqual(prepare('/assets/a.js', 'gzip, br;q=0.1'), [true, 'br'])
  deepEqual(prepare('/assets/a.js?x=/', 'gzip, br;q=0'), [true, 'gzip'])
  deepEqual(prepare('/assets/a.js'), [true, 'identity'])
  for (const path of ['', 'a.js.br', 'a.js.gz', '../a.js', '..', 'x/a.js', 'a%2Ejs', 'a.js/'])
    equal(prepare(`/assets/${path}`)[0], false, path)
})
