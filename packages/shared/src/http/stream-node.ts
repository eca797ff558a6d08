import type { ServerResponse } from 'node:http'
import { PassThrough, type Readable } from 'node:stream'
import { renderToPipeableStream } from 'react-dom/server'
import { ASSETS, ASSETS_DIR, documentElement, renderDocument, renderPartial } from '#shared/page/server.js'
import type { DocumentProps, PageProps } from '../page/state.ts'
import { requireAssets } from './assets.ts'

/** Milliseconds. Slower rendering is stopped: the browser gets the finished part and renders the rest. */
const ABORT_MS = 10_000

/** What the ssr routes render with. A dev server can pass its own. */
export interface Render {
  /** Where the client files are. */
  assets: URL
  /** Renders the whole document. */
  document(props: PageProps): string
  /** Streams the document, shell first. See `streamDocument`. */
  stream(props: DocumentProps, signal: AbortSignal, onError: (error: unknown) => void): Promise<Readable>
  /** Renders one product as a fragment; undefined if the locale or the slug is unknown. */
  partial(locale: string, slug: string): string | undefined
}

/** @throws {StartError} if the page was not built */
export function createRender(): Render {
  requireAssets(ASSETS, ASSETS_DIR)
  return { assets: ASSETS_DIR, document: renderDocument, stream: streamDocument, partial: renderPartial }
}

/**
 * Streams the page on Node. It resolves when the shell is ready, so that an earlier failure can still become a 500.
 * @param signal aborted when the client leaves; rendering stops
 * @param onError gets errors after the shell was sent, but not those of a client abort
 */
export function streamDocument(
  props: DocumentProps,
  signal: AbortSignal,
  onError: (error: unknown) => void,
): Promise<Readable> {
  const { promise, resolve, reject } = Promise.withResolvers<Readable>()
  const output = new PassThrough()
  const deadline = setTimeout(() => abort(new Error(`rendering took over ${ABORT_MS} ms`)), ABORT_MS)
  const { pipe, abort } = renderToPipeableStream(documentElement({ ...props, signal }), {
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
