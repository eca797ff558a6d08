import type { ServerResponse } from 'node:http'
import { PassThrough, type Readable } from 'node:stream'
import { renderToPipeableStream } from 'react-dom/server'
import {
  ASSETS,
  ASSETS_DIR,
  type DocumentProps,
  documentElement,
  type PageProps,
  renderDocument,
  renderPartial,
} from '#shared/page/server.js'
import { requireAssets } from './assets.ts'

/** Rendering that takes longer is given up: the browser gets what there is and renders the rest. */
const ABORT_MS = 10_000

/** What the ssr routes render with. A dev server can pass its own. */
export interface Render {
  /** Where the client files are. */
  assets: URL
  /** The whole document. */
  document(props: PageProps): string
  /** The document, shell first. See `streamDocument`. */
  stream(props: DocumentProps, signal: AbortSignal, onError: (error: unknown) => void): Promise<Readable>
  /** One product as a fragment; undefined where the locale or the slug is unknown. */
  partial(locale: string, slug: string): string | undefined
}

/** @throws {StartError} if the page was not built */
export function createRender(): Render {
  requireAssets(ASSETS, ASSETS_DIR)
  return { assets: ASSETS_DIR, document: renderDocument, stream: streamDocument, partial: renderPartial }
}

/**
 * Streams the page on Node: resolves when the shell is ready, so that a failure before it can still become a 500.
 * @param signal aborted when the client leaves; rendering stops
 * @param onError told of a part that failed after the shell was sent; never of a client that left
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
      // A framework may destroy the output when the socket fails, a moment before the signal tells.
      if (!signal.aborted && !output.destroyed) onError(error)
    },
  })
  signal.addEventListener('abort', () => abort(signal.reason), { once: true })
  return promise
}

/** Aborted when the connection closes before the answer is complete. */
export function closeSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  response.once('close', () => {
    if (!response.writableFinished) controller.abort()
  })
  return controller.signal
}
