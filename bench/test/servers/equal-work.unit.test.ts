import assert from 'node:assert/strict'
import { test } from 'node:test'
import { differenceOf, expectationOf, learn, unequalHeads } from '../../src/servers/command/equal-work.ts'

const of = (...texts: string[]) => learn(texts.map((text) => Buffer.from(text)))
const between = (mine: string[], theirs: string[]) =>
  differenceOf(of(...mine).template, of(...theirs).template)

test('responses that are always the same are compared byte by byte', () => {
  const one = of('{"a":1}', '{"a":1}')
  assert.equal(one.masked, 0)
  assert.equal(differenceOf(one.template, one.template), undefined)
  const difference = between(['{"a":1}', '{"a":1}'], ['{"a":2}', '{"a":2}'])
  assert.deepEqual(difference, { before: '{"a"', one: ':1', other: ':2' })
  assert.deepEqual(expectationOf(one), { bytes: Buffer.from('{"a":1}').toString('base64') })
  assert.equal(between(['', ''], ['', '']), undefined)
  assert.equal(between(['', ''], ['x', 'x'])?.other, 'x')
})

test('what differs between responses of one server is no difference between two', () => {
  const words = Array.from({ length: 300 }, (_, index) => `word ${index}`)
  const page = (nonce: string, text = words) =>
    `<script nonce="${nonce}"></script>${text.map((word) => `<p>${word}</p>`).join('')}<i>${nonce}</i>`
  const mine = ['a+b/c==', 'xyz-1', 'k'].map((nonce) => page(nonce))
  const { masked } = of(...mine)
  assert.ok(masked > 0 && masked < 0.02, `${masked}`)
  assert.equal(between(mine, [page('q'), page('r=='), page('s')]), undefined)
  const other = words.with(150, 'other')
  const difference = between(mine, [page('q', other), page('r', other)])
  assert.match(`${difference?.one} ${difference?.other}`, /word 150.*other/)
})

test('what differs stands for one stretch, not for a field more or less or a whole body', () => {
  const mine = ['{"id":1,"a":2}', '{"id":2,"a":2}']
  assert.equal(between(mine, ['{"id":9,"a":2}', '{"id":9,"a":2}']), undefined)
  assert.notEqual(between(mine, ['{"id":1,"a":3}', '{"id":2,"a":3}']), undefined)
  assert.equal(between(mine, ['{"id":3,"a":2,"b":3}', '{"id":4,"a":2,"b":3}'])?.other, ',"b":3')
  assert.equal(between(mine, ['other', 'other'])?.other, 'other')
})

test('under load, what is always the same is looked for', () => {
  const learnt = of('{"id":"aa","text":"grüße"}', '{"id":"bb","text":"grüße"}')
  assert.deepEqual(expectationOf(learnt), { includes: ['","text":"grüße"}', '{"id":"'] })
})

test('other headers, more bytes and a closed connection are sentences', () => {
  const plain = { title: 'before', names: ['date'], bytes: 100, closes: false }
  assert.deepEqual(unequalHeads([plain, { ...plain, title: 'after', bytes: 101 }]), [])
  const other = { title: 'after', names: ['date', 'etag', 'vary'], bytes: 200, closes: true }
  assert.deepEqual(unequalHeads([plain, other]), [
    'after closes each connection after its response: to open one for every request is part of what it costs.',
    'after alone sends etag and vary; a response of before has 100 bytes with its headers, one of after 200: that is part of any difference.',
  ])
})
