import { AsyncLocalStorage } from 'node:async_hooks'
import { createElement, type ReactElement } from 'react'
import {
  createServer,
  type InlineConfig,
  isCSSRequest,
  isRunnableDevEnvironment,
  type ViteDevServer,
} from 'vite'
import type { Asset } from '../../http/assets.ts'
import type { DocumentProps, PageProps } from '../state.ts'
import config from '../vite.config.ts'

/**
 * The page in development: the exports of entry-server.tsx. Vite compiles its sources when a request needs them and updates the browser
 * after each change. `node --conditions=development` imports this in place of what `npm run build` makes.
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

/** Empty: Vite serves the browser's files from memory. */
export const ASSETS: readonly Asset[] = []

export const ASSETS_DIR = new URL('./', import.meta.url)

export function renderDocument(props: PageProps): string {
  try {
    return page.renderDocument(props)
  } catch (error) {
    return documentOf(describe(error, props.nonce))
  }
}

export function documentElement(props: DocumentProps): ReactElement {
  try {
    page.renderDocument(props) // An error within a stream comes too late for another page.
    return page.documentElement(props)
  } catch (error) {
    // biome-ignore lint/security/noDangerouslySetInnerHtml: it is escaped
    return createElement('html', { dangerouslySetInnerHTML: { __html: describe(error, props.nonce) } })
  }
}

export function renderPartial(locale: string, slug: string): string | undefined {
  return page.renderPartial(locale, slug)
}

/** Starts Vite with the options of the server that it runs in. */
export async function startVite(server: NonNullable<InlineConfig['server']>): Promise<ViteDevServer> {
  vite = await createServer({ ...config, configFile: false, appType: 'custom', server })
  // The browser keeps connections to Vite open, and they would keep the app from closing.
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => vite.close())
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

/** A page's content security policy, extended so that Vite may insert styles and open its WebSocket. */
export function adaptPolicy(policy: string): string {
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
function describe(error: unknown, nonce = ''): string {
  const { message, stack = '', ...details } = error instanceof Error ? error : new Error(String(error))
  vite.config.logger.error(stack)
  isBroken = true
  const rendering = renderings.getStore()
  if (rendering !== undefined) rendering.hasFailed = true
  const data = JSON.stringify({ ...details, message, stack }).replaceAll('<', '\\u003c')
  return `<head><title>Error</title><meta property="csp-nonce" nonce="${nonce}">
<script type="module" nonce="${nonce}">import { ErrorOverlay } from '${vite.config.base}@vite/client'
document.body.append(new ErrorOverlay(${data}))</script></head><body></body>`
}

function documentOf(content: string): string {
  return `<!DOCTYPE html><html>${content}</html>`
}
