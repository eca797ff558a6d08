/** A file that browsers load under a name that changes with its content. */
export interface Asset {
  url: string
  contentType: string
  /** Without content coding. */
  bytes: number
}

// Written into each bundle by build.ts (https://esbuild.github.io/api/#define), which alone knows the hashes.
declare const PAGE_STYLESHEET: string
declare const PAGE_ICON: string

export const STYLESHEET = PAGE_STYLESHEET
export const ICON = PAGE_ICON
