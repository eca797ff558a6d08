import { equal, ok, rejects } from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { renderToPipeableStream, renderToReadableStream } from 'react-dom/server'
import { type PageProps, pageElement, renderPage } from '#shared/page/server.js'
import { recommendSlowly } from '../../src/page/shop/back-end.ts'

const PROPS: PageProps<'shop'> = { items: 5, requestId: 'r-1', nonce: 'MDEyMzQ1Njc4OWFiY2RlZmdo' }

function pipeable(props: PageProps<'shop'>): Promise<string> {
  const out = new PassThrough()
  const { pipe } = renderToPipeableStream(pageElement('shop', props), {
    nonce: props.nonce,
    onShellReady: () => pipe(out),
  })
  return text(out)
}

async function readable(props: PageProps<'shop'>): Promise<string> {
  return text(await renderToReadableStream(pageElement('shop', props), { nonce: props.nonce }))
}

/** What React puts into a stream for its own use. */
function withoutRuntime(html: string): string {
  return html
    .replace(/<script nonce="[^"]*"[^>]*>.*?<\/script>/gs, '')
    .replace(/<link rel="expect"[^>]*>/, '')
}

test('web streams and Node streams carry the same bytes', async () => {
  for (const ms of [0, 1]) {
    const create = () => ({ ...PROPS, pending: recommendSlowly(PROPS.items, ms) })
    equal(await readable(create()), await pipeable(create()))
  }
})

test('the slow part comes after the shell, and is the same as without a promise', async () => {
  const streamed = withoutRuntime(await pipeable({ ...PROPS, pending: recommendSlowly(PROPS.items, 1) }))
  const [, part = ''] = /<div hidden id="S:0">(.*)<\/div>/.exec(streamed) ?? []
  const assembled = streamed
    .replace(`<div hidden id="S:0">${part}</div>`, '')
    .replace(/<!--\$\?-->.*<!--\/\$-->/, `<!--$-->${part}<!--/$-->`)
  ok(part.startsWith('<ul>'))
  equal(assembled, renderPage('shop', PROPS))
})

test('an abort clears the timer of the slow part', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const before = timers()
  const stop = new AbortController()
  const promise = recommendSlowly(1, 60_000, stop.signal) ?? Promise.resolve()
  equal(timers(), before + 1)
  stop.abort()
  equal(timers(), before)
  await rejects(promise, { name: 'AbortError' })
})

test('a client that is gone before rendering starts leaves neither a timer nor an unhandled rejection', async () => {
  recommendSlowly(1, 60_000, AbortSignal.abort())
  await new Promise(setImmediate)
})
