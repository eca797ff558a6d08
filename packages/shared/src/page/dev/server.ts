import { documentOf, elementOf, latest } from './page.ts'

/** What routes import from `#shared/page/server.js`, in development. */

/** Empty: Vite serves the browser's files from memory. */
export const ASSETS: readonly string[] = []

export const ASSETS_DIR = new URL('./', import.meta.url)

export const renderPage = latest((page) => page.renderPage, documentOf)

export const pageElement = latest((page) => page.pageElement, elementOf)
