/// <reference types="vite/client" />

/** The browser's files, listed by vite.config.ts for the server. */
declare module 'virtual:client' {
  export const assets: readonly import('../http/assets.ts').Asset[]
  /** The keys are the names of the entries. */
  export const pages: Readonly<Record<string, { script: string; stylesheets: string[] }>>
}
