import { AsyncLocalStorage } from 'node:async_hooks'
import { createElement, isValidElement, type ReactElement } from 'react'
import { renderToString } from 'react-dom/server'
import {
  createServer,
  type InlineConfig,
  isCSSRequest,
  isRunnableDevEnvironment,
  type ViteDevServer,
} from 'vite'
import config from '../vite.config.ts'

/**
 * The page in development: Vite compiles its sources when a request needs them, and updates the browser after each change.
 * `node --conditions=development` imports it in place of what `npm run build` makes.
 */

type Page = typeof import('../entry-server.tsx')

/** Whether the page of a response failed to render. */
export interface Rendering {
  hasFailed: boolean
}

let vite: ViteDevServer
let page: Page
/** Whether the browser shows an error instead of the page. */
let isBroken = false
const renderings = new AsyncLocalStorage<Rendering>()

/** What routes import from `#shared/page/server.js`. It is empty, because Vite serves the browser's files from memory. */
export const ASSETS: readonly string[] = []

export const ASSETS_DIR = new URL('./', import.meta.url)

export const renderPage = latest((page) => page.renderPage, documentOf)

export const pageElement = latest((page) => page.pageElement, elementOf)

/**
 * A function of entry-server.tsx as that file is now.
 * @param show returns a page with this content, for the browser to show an error
 */
function latest<Render extends (...args: never[]) => unknown>(
  find: (page: Page) => Render,
  show: (content: string) => ReturnType<Render>,
): Render {
  return ((...args: never[]) => {
    try {
      const result = find(page)(...args)
      if (isValidElement(result)) renderToString(result) // An error within a stream comes too late for another page.
      return result
    } catch (error) {
      return show(describe(error))
    }
  }) as Render
}

/** Starts Vite with the options of the server that it runs in. */
export async function startVite(server: NonNullable<InlineConfig['server']>): Promise<ViteDevServer> {
  vite = await createServer({ ...config, configFile: false, appType: 'custom', server })
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, () => {
      // The browser's WebSockets would keep the app from closing. The rest of Vite stays, because requests in flight need it.
      vite.ws.close().catch(() => {}) // closed by another signal before
      // The app waits for signals as soon as it listens. Until then, this handler is the only one.
      if (process.listenerCount(signal) === 0) process.exit(1)
    })
  }
  vite.watcher.on('all', (_event, path) => {
    const { client, ssr } = vite.environments
    const isLoaded = ({ moduleGraph }: typeof client) => (moduleGraph.getModulesByFile(path)?.size ?? 0) > 0
    if (isBroken || (isLoaded(ssr) && !isLoaded(client))) client.hot.send({ type: 'full-reload' })
  })
  return vite
}

/**
 * Loads the current sources.
 * @returns if that fails, a document that shows the error
 */
export async function loadPage(): Promise<string | undefined> {
  const { ssr } = vite.environments
  if (!isRunnableDevEnvironment(ssr)) throw new Error("Vite's environment for the server runs no modules.")
  try {
    page = await ssr.runner.import('/entry-server.tsx')
    const { pages } = await ssr.runner.import<typeof import('virtual:client')>('virtual:client')
    for (const one of Object.values(pages)) one.stylesheets = await listStylesheets(one.script)
    isBroken = false
    return undefined
  } catch (error) {
    return documentOf(describe(error))
  }
}

/** Runs a request handler, which sets the status 500 if its page failed to render. */
export function track<T>(handler: (rendering: Rendering) => T): T {
  const rendering = { hasFailed: false }
  return renderings.run(rendering, handler, rendering)
}

/** A page's content security policy, extended so that Vite may insert styles and open its WebSocket. An error has none. */
export function adaptPolicy(policy: string, { hasFailed }: Rendering): string {
  if (hasFailed) return ''
  const [nonce] = /'nonce-[^']+'/.exec(policy) ?? []
  if (nonce === undefined) return policy
  return policy
    .replace("style-src 'self'", `style-src 'self' ${nonce}`)
    .replace("connect-src 'self'", "connect-src 'self' ws: wss:")
}

/** The stylesheets that a script imports. The document links them, or the page would have no styles until the script runs. */
async function listStylesheets(script: string): Promise<string[]> {
  const { root, base } = vite.config
  const { client } = vite.environments
  const stylesheets: string[] = []
  const urls = new Set([script.slice(base.length - 1)])
  for (const url of urls) {
    await client.transformRequest(url)
    const module = await client.moduleGraph.getModuleByUrl(url)
    for (const { url, file } of module?.importedModules ?? []) {
      if (isCSSRequest(url)) stylesheets.push(base + url.slice(1))
      else if (file?.startsWith(root)) urls.add(url)
    }
  }
  return stylesheets
}

/** The content of a document that shows an error in Vite's overlay. */
function describe(error: unknown): string {
  const { message, stack = '', ...details } = error instanceof Error ? error : new Error(String(error))
  vite.config.logger.error(stack)
  isBroken = true
  const rendering = renderings.getStore()
  if (rendering !== undefined) rendering.hasFailed = true
  const data = JSON.stringify({ ...details, message, stack }).replaceAll('<', '\\u003c')
  return `<head><title>Error</title>
<script type="module">import { ErrorOverlay } from '${vite.config.base}@vite/client'
document.body.append(new ErrorOverlay(${data}))</script></head><body></body>`
}

function documentOf(content: string): string {
  return `<!DOCTYPE html><html>${content}</html>`
}

function elementOf(content: string): ReactElement {
  // biome-ignore lint/security/noDangerouslySetInnerHtml: it is escaped
  return createElement('html', { dangerouslySetInnerHTML: { __html: content } })
}
