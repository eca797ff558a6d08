import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  assembleStream,
  assetUrls,
  inspectDocument,
  productNames,
  startTags,
  withoutSecrets,
} from '../src/contract/markup.ts'
import type { Header } from '../src/http/header.ts'
import type { HttpResponse } from '../src/http/response.ts'

test('start tags with their attributes, but not what scripts contain', () => {
  const tags = startTags('<p class="a b" hidden>x<br/></p><script async="" src="/a.js">"<b>"</script>')
  assert.deepEqual(
    tags.map(({ name, attributes }) => [name, ...attributes.keys()]),
    [['p', 'class', 'hidden'], ['br'], ['script', 'async', 'src']],
  )
  assert.equal(tags[0]?.attributes.get('class'), 'a b')
})

test('assets are found once', () => {
  const html =
    '<link href="/assets/a.css"/><script src="/assets/b.js"></script><img src="/assets/a.css"/><a href="/x">'
  assert.deepEqual(assetUrls(html), ['/assets/a.css', '/assets/b.js'])
})

test('products are what has a heading in the list', () => {
  assert.deepEqual(
    productNames('<ul><li class="x"><h3>A</h3></li><li><h3>B</h3></li></ul><ul><li>C</li></ul>'),
    ['A', 'B'],
  )
})

test('a stream is put together as the browser does', () => {
  const shell = '<body><!--$?--><template id="B:0"></template><p>…</p><!--/$--><footer></footer>'
  const late =
    '<div hidden id="S:0"><ul><li>x</li></ul></div><script nonce="n">$RC("B:0","S:0")</script></body>'
  assert.equal(
    assembleStream(shell + late),
    '<body><!--$--><ul><li>x</li></ul><!--/$--><footer></footer></body>',
  )
  assert.equal(assembleStream(shell), shell)
})

const NONCE = 'n'.repeat(24)

function response(html: string): HttpResponse {
  const headers: Header[] = [
    ['x-request-id', 'id-1'],
    ['content-security-policy', `script-src 'nonce-${NONCE}'`],
  ]
  const body = Buffer.from(html)
  return {
    version: '1.1',
    status: 200,
    reason: 'OK',
    headers,
    body,
    faults: [],
    framing: 'length',
    fragments: [],
    trailers: [],
  }
}

test('secrets are replaced everywhere', () => {
  const html = `<a nonce="${NONCE}">id-1 id-1</a>`
  assert.equal(withoutSecrets(response(html)), '<a nonce="NONCE">ID ID</a>')
})

test('a data block needs no nonce, a preload of a script does', () => {
  const findings = (inside: string) =>
    inspectDocument(0)(response(`<!DOCTYPE html><html><body><b>id-1</b>${inside}</body></html>`)).length
  assert.equal(findings('<script type="application/json">{}</script>'), 0)
  assert.equal(findings('<link rel="modulepreload" href="/a.js"/>'), 1)
  assert.equal(findings('<script nonce="m"></script>'), 1)
})
