// What dist/page/server.js exports: keep it equal to entry-server.tsx.
import type { ReactElement } from 'react'

/** A hashed file below `ASSETS_DIR`. */
export interface Asset {
  url: string
  contentType: string
  /** Without content coding. */
  bytes: number
}

/** Every hashed file of the page; the compressible ones have siblings that end in `.br` and `.gz`. */
export declare const ASSETS: readonly Asset[]

/** Where the files of `/assets/` are. */
export declare const ASSETS_DIR: URL

export interface PageProps {
  /** How many products the page shows, 0 to 1000. */
  items: number
  /** Printed in the page. */
  requestId: string
  /** The one in the content security policy of the same answer. */
  nonce: string
}

export interface DocumentProps extends PageProps {
  /** Milliseconds until the slow part is there; with 0 or without, it is part of the shell. */
  delayMs?: number | undefined
  /** When aborted, the slow part's timer is cleared and the part fails. Aborting the render itself is the caller's. */
  signal?: AbortSignal | undefined
}

/** The whole document, doctype included. */
export declare function renderDocument(props: PageProps): string

/**
 * The same document for `renderToPipeableStream` or `renderToReadableStream`, one element per request. Pass `nonce` to those as
 * well: React's own inline scripts need it.
 */
export declare function documentElement(props: DocumentProps): ReactElement

/**
 * One product as a fragment.
 * @param locale `en-US`, `de-DE` or `fr-FR`
 * @param slug of one of the first 50 products, such as `honeyed-assam-black`
 * @returns undefined where either is unknown
 */
export declare function renderPartial(locale: string, slug: string): string | undefined
