import { deepEqual, doesNotMatch, equal, match, ok } from 'node:assert/strict'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import * as built from '#shared/page/server.js'
import type * as dev from '../../src/page/dev.ts'
import type * as source from '../../src/page/entry-server.tsx'
import type * as declared from '../../src/page/server.d.ts'
import { recommendSlowly } from '../../src/page/shop/back-end.ts'
import { streamPage as streamNode } from '../../src/page/stream-node.ts'
import { streamPage as streamWeb } from '../../src/page/stream-web.ts'

/** The page as text and as a stream. That the document works under its policy, and is the same in every framework, the suite shows. */

const PROPS = { items: 3, requestId: 'r-1', nonce: 'MDEyMzQ1Njc4OWFiY2RlZmdo' }
const SLOW_PART = /id="S:0"/

test('server.d.ts declares what entry-server.tsx, and dev.ts in its place, export', () => {
  // The type check compares the types; at run time only the names are left.
  const toDeclared = (module: typeof source | typeof dev): typeof declared => module
  const names = ['ASSETS', 'ASSETS_DIR', 'pageElement', 'renderPage', 'vite']
  deepEqual(Object.keys(toDeclared(built as typeof source)).sort(), names)
})

test('a request id cannot leave its element or the state', async () => {
  const requestId = '</script><!--<script>alert("1")</script>&\u2028'
  const html = await built.renderPage('shop', { ...PROPS, requestId })
  ok(!html.includes('alert("1")</script>') && !html.includes('<!--<script>'))
  const escaped = '&lt;/script&gt;&lt;!--&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;\u2028'
  ok(html.includes(`<code>${escaped}</code>`))
  const [, state = ''] = /<script id="state" type="application\/json">(.*?)<\/script>/s.exec(html) ?? []
  equal(JSON.parse(state).requestId, requestId)
})

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

const hasTimer = () => process.getActiveResourcesInfo().includes('Timeout')

for (const [where, streamPage] of [
  ['Node', streamNode],
  ['web', streamWeb],
] as const) {
  const openHere = (ms: number) => open<NodeJS.ReadableStream | ReadableStream>(streamPage, ms)

  test(`a ${where} stream has the whole page and leaves no timer behind`, async () => {
    const { stream, errors } = await openHere(1)
    const html = await text(stream)
    match(html, SLOW_PART)
    match(html, /<\/html>$/)
    deepEqual([errors, hasTimer()], [[], false])
  })

  test(`a ${where} stream that takes over 10 s ends with what there is, and says so once`, async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { stream, leaving, errors } = await openHere(60_000)
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
    const { stream, leaving, errors } = await openHere(60_000)
    const reading = text(stream).catch(() => '')
    leaving.abort()
    doesNotMatch(await reading, SLOW_PART)
    deepEqual([errors, hasTimer()], [[], false])
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
  equal(hasTimer(), false)
})
