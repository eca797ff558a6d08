// The exports of dist/page/server.js. Keep this file equal to entry-server.tsx.
import type { ReactElement } from 'react'

/** A hashed file below `ASSETS_DIR`. */
export interface Asset {
  url: string
  contentType: string
  /** The size without content coding. */
  bytes: number
}

/** All hashed files of the page. The compressible ones have siblings that end in `.br` and `.gz`. */
export declare const ASSETS: readonly Asset[]

/** The directory of the files below `/assets/`. */
export declare const ASSETS_DIR: URL

export interface PageProps {
  /** How many products the page shows, 0 to 1000. */
  items: number
  /** Printed in the page. */
  requestId: string
  /** The nonce in the content security policy of the same response. */
  nonce: string
}

export interface DocumentProps extends PageProps {
  /** Milliseconds until the slow part is ready. With 0, or without it, that part belongs to the shell. */
  delayMs?: number | undefined
  /** If aborted, the timer of the slow part is cleared and the part fails. The caller has to abort the rendering itself. */
  signal?: AbortSignal | undefined
}

/** The whole document, doctype included. */
export declare function renderDocument(props: PageProps): string

/**
 * The same document for `renderToPipeableStream` or `renderToReadableStream`, one element per request. Pass the `nonce` to
 * those functions as well: React's inline scripts need it.
 */
export declare function documentElement(props: DocumentProps): ReactElement

/**
 * Renders one product as a fragment.
 * @param locale `en-US`, `de-DE` or `fr-FR`
 * @param slug one of the first 50 products, such as `honeyed-assam-black`
 * @returns undefined if either is unknown
 */
export declare function renderPartial(locale: string, slug: string): string | undefined
