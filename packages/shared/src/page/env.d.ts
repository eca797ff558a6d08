/// <reference types="vite/client" />

/** The browser's files that the server must know, from vite.config.ts. */
declare module 'virtual:client' {
  export const assets: readonly string[]
  /** By the name of the folder. */
  export const pages: Readonly<Record<string, { script: string; stylesheets: string[] }>>
}
