import type { ServerResponse } from 'node:http'
import { PassThrough, type Readable } from 'node:stream'
import { renderToPipeableStream } from 'react-dom/server'
import { type PageName, type PageProps, pageElement } from '#shared/page/server.js'

/** Milliseconds. Slower rendering is stopped: the browser gets the finished part and renders the rest. */
const ABORT_MS = 10_000

/**
 * Streams a page on Node. It resolves when the shell is ready, so that an earlier failure can still become a 500.
 * @param signal aborted when the client leaves; rendering stops
 * @param onError gets errors after the shell was sent, but not those of a client abort
 */
export async function streamPage<Name extends PageName>(
  name: Name,
  props: PageProps<Name>,
  signal: AbortSignal,
  onError: (error: unknown) => void,
): Promise<Readable> {
  const element = await pageElement(name, props)
  const { promise, resolve, reject } = Promise.withResolvers<Readable>()
  const output = new PassThrough()
  const deadline = setTimeout(() => abort(new Error(`rendering took over ${ABORT_MS} ms`)), ABORT_MS)
  const { pipe, abort } = renderToPipeableStream(element, {
    nonce: props.nonce,
    onShellReady: () => resolve(pipe(output)),
    onShellError: reject,
    onAllReady: () => clearTimeout(deadline),
    onError: (error) => {
      clearTimeout(deadline)
      // If the socket fails, a framework may destroy the output shortly before the signal is aborted.
      if (!signal.aborted && !output.destroyed) onError(error)
    },
  })
  signal.addEventListener('abort', () => abort(signal.reason), { once: true })
  return promise
}

/** Aborted if the connection closes before the response is complete. */
export function closeSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) controller.abort()
  })
  return controller.signal
}
