import { renderToReadableStream } from 'react-dom/server'
import { type DocumentProps, documentElement } from '#shared/page/server.js'

/** Rendering that takes longer is given up: the browser gets what there is and renders the rest. */
const ABORT_MS = 10_000

/**
 * Streams the page as a web stream: resolves when the shell is ready, so that a failure before it can still become a 500.
 * @param signal aborted when the client leaves; rendering stops
 * @param onError told of a part that failed after the shell was sent; never of a client that left
 */
export async function streamDocument(
  props: DocumentProps,
  signal: AbortSignal,
  onError: (error: unknown) => void,
): Promise<ReadableStream<Uint8Array>> {
  const stop = new AbortController()
  const deadline = setTimeout(() => stop.abort(new Error(`rendering took over ${ABORT_MS} ms`)), ABORT_MS)
  const stream = await renderToReadableStream(documentElement({ ...props, signal }), {
    nonce: props.nonce,
    signal: AbortSignal.any([signal, stop.signal]),
    onError: (error) => {
      clearTimeout(deadline)
      if (!signal.aborted) onError(error)
    },
  })
  stream.allReady.then(
    () => clearTimeout(deadline),
    () => clearTimeout(deadline),
  )
  return stream
}
