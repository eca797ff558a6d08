import { deepEqual, doesNotMatch, equal, match } from 'node:assert/strict'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { recommendSlowly } from '../../src/page/shop/back-end.ts'
import { streamPage as streamNode } from '../../src/page/stream-node.ts'
import { streamPage as streamWeb } from '../../src/page/stream-web.ts'

const PROPS = { items: 3, requestId: 'r-1', nonce: 'MDEyMzQ1Njc4OWFiY2RlZmdo' }
const SLOW_PART = /id="S:0"/

/** A stream whose slow part takes `ms`, and all that goes wrong in it. */
async function open<Stream>(
  streamPage: (...args: Parameters<typeof streamWeb>) => Promise<Stream>,
  ms: number,
) {
  const leaving = new AbortController()
  const errors: unknown[] = []
  const props = { ...PROPS, pending: recommendSlowly(3, ms, leaving.signal) }
  const stream = await streamPage('shop', props, leaving.signal, (error) => errors.push(error))
  return { stream, leaving, errors }
}

for (const [where, streamPage] of [
  ['Node', streamNode],
  ['web', streamWeb],
] as const) {
  test(`a ${where} stream has the whole page and leaves no timer behind`, async () => {
    const { stream, errors } = await open<NodeJS.ReadableStream | ReadableStream>(streamPage, 1)
    const html = await text(stream)
    match(html, SLOW_PART)
    match(html, /<\/html>$/)
    deepEqual(errors, [])
    equal(process.getActiveResourcesInfo().includes('Timeout'), false)
  })

  test(`a ${where} stream that takes over 10 s ends with what there is, and says so once`, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { stream, leaving, errors } = await open<NodeJS.ReadableStream | ReadableStream>(streamPage, 60_000)
    const reading = text(stream)
    t.mock.timers.tick(9_999)
    deepEqual(errors, [])
    t.mock.timers.tick(1)
    const html = await reading
    doesNotMatch(html, SLOW_PART)
    match(html, /<footer>/)
    deepEqual(errors.map(String), ['Error: rendering took over 10000 ms'])
    leaving.abort() // the timer of the slow part is not mocked
  })

  test(`a ${where} stream says nothing of a client that left`, async () => {
    const { stream, leaving, errors } = await open<NodeJS.ReadableStream | ReadableStream>(streamPage, 60_000)
    const reading = text(stream).catch(() => '')
    leaving.abort()
    doesNotMatch(await reading, SLOW_PART)
    deepEqual(errors, [])
    equal(process.getActiveResourcesInfo().includes('Timeout'), false)
  })
}

test('a Node stream says nothing when it is destroyed before the signal tells', async () => {
  const { stream, leaving, errors } = await open(streamNode, 60_000)
  stream.destroy()
  await once(stream, 'close')
  await turn()
  leaving.abort()
  deepEqual(errors, [])
})

test('a client that is gone before rendering starts leaves neither a timer nor an unhandled rejection', async () => {
  recommendSlowly(1, 60_000, AbortSignal.abort())
  await turn()
  equal(process.getActiveResourcesInfo().includes('Timeout'), false)
})
