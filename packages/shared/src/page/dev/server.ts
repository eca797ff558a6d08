import { documentOf, elementOf, latest } from './page.ts'

/** What routes import from `#shared/page/server.js`, in development. A new function of entry-server.tsx must be here, too. */

/** Empty: Vite serves the browser's files from memory. */
export const ASSETS: readonly string[] = []

export const ASSETS_DIR = new URL('./', import.meta.url)

export const renderDocument = latest((page) => page.renderDocument, documentOf)

export const documentElement = latest((page) => page.documentElement, elementOf)
