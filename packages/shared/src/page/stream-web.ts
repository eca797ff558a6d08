import { renderToReadableStream } from 'react-dom/server'
import { type PageName, type PageProps, pageElement } from '#shared/page/server.js'

/** Milliseconds. Slower rendering is stopped: the browser gets the finished part and renders the rest. */
const ABORT_MS = 10_000

/**
 * Streams a page as a web stream. It resolves when the shell is ready, so that an earlier failure can still become a 500.
 * @param signal aborted when the client leaves; rendering stops
 * @param onError gets errors after the shell was sent, but not those of a client abort
 */
export async function streamPage<Name extends PageName>(
  name: Name,
  props: PageProps<Name>,
  signal: AbortSignal,
  onError: (error: unknown) => void,
): Promise<ReadableStream<Uint8Array>> {
  const stop = new AbortController()
  const deadline = setTimeout(() => stop.abort(new Error(`rendering took over ${ABORT_MS} ms`)), ABORT_MS)
  const stream = await renderToReadableStream(await pageElement(name, props), {
    nonce: props.nonce,
    signal: AbortSignal.any([signal, stop.signal]),
    onError: (error) => {
      clearTimeout(deadline)
      if (!signal.aborted) onError(error)
    },
  })
  stream.allReady.finally(() => clearTimeout(deadline)).catch(() => {}) // `onError` has heard of it
  return stream
}
