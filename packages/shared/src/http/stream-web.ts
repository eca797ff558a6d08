import { renderToReadableStream } from 'react-dom/server'
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
  stream(
    props: DocumentProps,
    signal: AbortSignal,
    onError: (error: unknown) => void,
  ): Promise<ReadableStream<Uint8Array>>
  /** One product as a fragment; undefined where the locale or the slug is unknown. */
  partial(locale: string, slug: string): string | undefined
}

/** @throws {StartError} if the page was not built */
export function createRender(): Render {
  requireAssets(ASSETS, ASSETS_DIR)
  return { assets: ASSETS_DIR, document: renderDocument, stream: streamDocument, partial: renderPartial }
}

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
