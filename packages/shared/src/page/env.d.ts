/// <reference types="vite/client" />

/** What vite.config.ts tells the server about the browser's files. */
declare module 'virtual:client' {
  export const assets: readonly import('./server.d.ts').Asset[]
  /** By the name of the entry. */
  export const pages: Readonly<Record<string, { script: string; stylesheets: string[] }>>
}
