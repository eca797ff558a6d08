import { createServer } from 'node:http'
import { connect } from 'node:net'
import { createServer as createVite } from 'vite'
import { readConfig, Settings } from '../config.ts'
import { PAGE_SOURCES } from '../security.ts'
import type * as Page from './entry-server.tsx'
import type * as Declared from './server.d.ts'
import config from './vite.config.ts'

/**
 * The page in development, in place of what `npm run build` makes, by https://vite.dev/guide/ssr#setting-up-the-dev-server: Vite compiles its
 * sources when a request needs them, and updates the browser after each change. `node --conditions=development` imports this.
 */

/** Has Vite's WebSocket, and its files for frameworks whose requests are not Node's. */
const server = createServer()
const { HOST, PORT } = readConfig(Settings)
const port = await findPort()
const origin = `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${port}`
const { middlewares, ssrLoadModule } = await createVite({
  ...config,
  configFile: false,
  appType: 'custom',
  server: { middlewareMode: true, ws: { server, clientPort: port } },
})
server.on('request', middlewares)
listenAfterApp()

// Vite inserts styles.
PAGE_SOURCES['style-src'] += " 'unsafe-inline'"
PAGE_SOURCES['connect-src'] += ' ws:'

export const vite: typeof Declared.vite = {
  middlewares,
  async fetch({ url, headers }) {
    const { pathname, search } = new URL(url)
    const asked = await fetch(origin + pathname + search, { headers })
    return new Response(asked.body, asked)
  },
}

export const ASSETS: readonly string[] = []

export const ASSETS_DIR = new URL('./', import.meta.url)

export const renderPage: typeof Declared.renderPage = async (...page) => (await load()).renderPage(...page)

export const pageElement: typeof Declared.pageElement = async (...page) => (await load()).pageElement(...page)

function load() {
  return ssrLoadModule('/entry-server.tsx') as Promise<typeof Page>
}

/** A browser that reconnects after a restart loads its page again, so the app has to be there. */
function listenAfterApp(): void {
  if (PORT === 0) return void server.listen(port, HOST)
  const app = connect(PORT, HOST, () => {
    app.destroy()
    server.listen(port, HOST)
  })
  app.once('error', () => setTimeout(listenAfterApp, 100))
}

/** The first free port, starting at Vite's default: the same after a restart, so that browsers reconnect. */
async function findPort(first = 24_678): Promise<number> {
  const probe = createServer()
  const { promise, resolve } = Promise.withResolvers<boolean>()
  probe.once('error', () => resolve(false)).listen(first, HOST, () => resolve(true))
  const isFree = await promise
  probe.close()
  return isFree ? first : findPort(first + 1)
}
