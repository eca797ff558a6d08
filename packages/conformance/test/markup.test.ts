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

test('secrets are replaced everywhere', () => {
  assert.equal(withoutSecrets('<a n="x">y y</a>', { id: 'y', nonce: '"x"' }), '<a n=NONCE>ID ID</a>')
})

test('a data block needs no nonce, a preload of a script does', () => {
  const page = (inside: string) => Buffer.from(`<!DOCTYPE html><html><body>${inside}</body></html>`)
  const told = { id: undefined, nonce: 'n' }
  assert.deepEqual(inspectDocument(0)(page('<script type="application/json">{}</script>'), told), [])
  assert.equal(inspectDocument(0)(page('<link rel="modulepreload" href="/a.js"/>'), told).length, 1)
  assert.equal(inspectDocument(0)(page('<script nonce="m"></script>'), told).length, 1)
})
