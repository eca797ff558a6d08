import { renderToReadableStream } from 'react-dom/server'
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
  stream(
    props: DocumentProps,
    signal: AbortSignal,
    onError: (error: unknown) => void,
  ): Promise<ReadableStream<Uint8Array>>
  /** Renders one product as a fragment; undefined if the locale or the slug is unknown. */
  partial(locale: string, slug: string): string | undefined
}

/** @throws {StartError} if the page was not built */
export function createRender(): Render {
  requireAssets(ASSETS, ASSETS_DIR)
  return { assets: ASSETS_DIR, document: renderDocument, stream: streamDocument, partial: renderPartial }
}

/**
 * Streams the page as a web stream. It resolves when the shell is ready, so that an earlier failure can still become a 500.
 * @param signal aborted when the client leaves; rendering stops
 * @param onError gets errors after the shell was sent, but not those of a client abort
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
