import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { differenceOf, expectationOf, learn, unequalHeads } from '../../../src/servers/command/equal-work.ts'

const of = (...texts: string[]) => learn(texts.map((text) => Buffer.from(text)))
const page = (nonce: string, words: string[]) =>
  `<script nonce="${nonce}"></script>${words.map((word) => `<p>${word}</p>`).join('')}<i>${nonce}</i>`

describe('equal work', () => {
  test('responses that are always the same are compared byte by byte', () => {
    const [one, other] = [of('{"a":1}', '{"a":1}'), of('{"a":2}', '{"a":2}')]
    assert.equal(one.masked, 0)
    assert.equal(differenceOf(one.template, one.template), undefined)
    assert.deepEqual(differenceOf(one.template, other.template), { before: '{"a"', one: ':1', other: ':2' })
    assert.deepEqual(expectationOf(one), { bytes: Buffer.from('{"a":1}').toString('base64') })
  })

  test('what differs between responses of one server is no difference between two', () => {
    const words = Array.from({ length: 300 }, (_, index) => `word ${index}`)
    const mine = of(page('a+b/c==', words), page('xyz-1', words), page('k', words))
    const theirs = of(page('q', words), page('r==', words), page('s', words))
    assert.ok(mine.masked > 0 && mine.masked < 0.02, `${mine.masked}`)
    assert.equal(differenceOf(mine.template, theirs.template), undefined)
    const other = of(page('q', words.with(150, 'other')), page('r', words.with(150, 'other')))
    const difference = differenceOf(mine.template, other.template)
    assert.match(`${difference?.one} ${difference?.other}`, /word 150.*other/)
  })

  test('one more field, or one less, is found', () => {
    const [one, other] = [
      of('{"id":1,"a":2}', '{"id":2,"a":2}'),
      of('{"id":3,"a":2,"b":3}', '{"id":4,"a":2,"b":3}'),
    ]
    assert.equal(differenceOf(one.template, other.template)?.other, ',"b":3')
  })

  test('what differs stands for one stretch, not for a whole body', () => {
    const json = of('{"id":1,"text":"a"}', '{"id":2,"text":"a"}')
    assert.equal(differenceOf(json.template, of('other', 'other').template)?.other, 'other')
    assert.notEqual(
      differenceOf(json.template, of('{"id":1,"text":"b"}', '{"id":2,"text":"b"}').template),
      undefined,
    )
    assert.equal(
      differenceOf(json.template, of('{"id":9,"text":"a"}', '{"id":9,"text":"a"}').template),
      undefined,
    )
  })

  test('a response of which little is left proves little', () => {
    const random = () => Array.from({ length: 40 }, () => `<b>${Math.random()}</b>`).join('')
    assert.ok(of(random(), random(), random()).masked > 0.5)
  })

  test('under load, what is always the same is looked for', () => {
    const learnt = of('{"id":"aa","text":"grüße"}', '{"id":"bb","text":"grüße"}')
    assert.deepEqual(expectationOf(learnt), { includes: ['","text":"grüße"}', '{"id":"'] })
  })

  test('nothing is as good as anything else', () => {
    assert.equal(differenceOf(of('', '').template, of('', '').template), undefined)
    assert.equal(differenceOf(of('', '').template, of('x', 'x').template)?.other, 'x')
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
})
