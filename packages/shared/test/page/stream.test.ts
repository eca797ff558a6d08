import { equal, ok, rejects } from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { renderToPipeableStream, renderToReadableStream } from 'react-dom/server'
import { type DocumentProps, documentElement, renderDocument } from '#shared/page/server.js'
import { delayed } from '../../src/page/delay.ts'

const PROPS: DocumentProps = { items: 5, requestId: 'r-1', nonce: 'MDEyMzQ1Njc4OWFiY2RlZmdo' }

function pipeable(props: DocumentProps): Promise<string> {
  const out = new PassThrough()
  const { pipe } = renderToPipeableStream(documentElement(props), {
    nonce: props.nonce,
    onShellReady: () => pipe(out),
  })
  return text(out)
}

async function readable(props: DocumentProps): Promise<string> {
  return text(await renderToReadableStream(documentElement(props), { nonce: props.nonce }))
}

/** What React puts into a stream for its own use. */
function withoutRuntime(html: string): string {
  return html
    .replace(/<script nonce="[^"]*"[^>]*>.*?<\/script>/gs, '')
    .replace(/<link rel="expect"[^>]*>/, '')
}

test('web streams and Node streams carry the same bytes', async () => {
  for (const delayMs of [0, 1])
    equal(await readable({ ...PROPS, delayMs }), await pipeable({ ...PROPS, delayMs }))
})

test('without delay the slow part is inline, whatever the size of the page', async () => {
  for (const items of [0, 50, 1000]) {
    const props = { ...PROPS, items, delayMs: 0 }
    equal(withoutRuntime(await pipeable(props)), renderDocument(props))
  }
})

test('with a delay the same part comes after the shell', async () => {
  const streamed = withoutRuntime(await pipeable({ ...PROPS, delayMs: 1 }))
  const [, part = ''] = /<div hidden id="S:0">(.*)<\/div>/.exec(streamed) ?? []
  const assembled = streamed
    .replace(`<div hidden id="S:0">${part}</div>`, '')
    .replace(/<!--\$\?-->.*<!--\/\$-->/, `<!--$-->${part}<!--/$-->`)
  ok(part.startsWith('<ul>'))
  equal(assembled, renderDocument(PROPS))
})

test('an abort clears the timer of the slow part', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const before = timers()
  const stop = new AbortController()
  const promise = delayed('late', 60_000, stop.signal)
  equal(timers(), before + 1)
  stop.abort()
  equal(timers(), before)
  await rejects(promise, { name: 'AbortError' })
})

test('a client that is gone before rendering starts leaves neither a timer nor an unhandled rejection', async () => {
  documentElement({ ...PROPS, delayMs: 60_000, signal: AbortSignal.abort() })
  await new Promise(setImmediate)
})

test('an aborted stream ends with what there is', async () => {
  const stop = new AbortController()
  const errors: unknown[] = []
  const stream = await renderToReadableStream(
    documentElement({ ...PROPS, delayMs: 60_000, signal: stop.signal }),
    { nonce: PROPS.nonce, signal: stop.signal, onError: (error) => void errors.push(error) },
  )
  stop.abort(new Error('gone'))
  await text(stream).catch(() => {})
  equal(errors.length, 1)
})
