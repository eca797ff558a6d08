import { assets, pages } from 'virtual:client'
import type { ReactElement } from 'react'
import { renderToString } from 'react-dom/server'
import { delayed } from './delay.ts'
import { Document } from './document.tsx'
import type { Product } from './product.ts'
import { recommend } from './recommendations.tsx'
import { type DocumentProps, type PageProps, STATE_ID, type State, serializeState } from './state.ts'

/** URLs of the scripts and stylesheets that a page loads. Each file has siblings that end in `.br` and `.gz`. */
export const ASSETS = assets

/** The directory of the files below `/assets/`. */
export const ASSETS_DIR = /* @__PURE__ */ new URL('../assets/', import.meta.url)

/** The whole document, doctype included. */
export function renderDocument(props: PageProps): string {
  // Streams write the doctype themselves; `renderToString` does not.
  return `<!DOCTYPE html>${renderToString(<Page {...props} />)}`
}

/**
 * The same document for `renderToPipeableStream` or `renderToReadableStream`, one element per request. Pass the `nonce` to
 * those functions as well: React's inline scripts need it.
 */
export function documentElement({ delayMs = 0, signal, ...props }: DocumentProps): ReactElement {
  const pending = delayMs > 0 ? delayed(recommend(props.items), delayMs, signal) : undefined
  return <Page {...props} pending={pending} />
}

function Page({ nonce, ...props }: PageProps & { pending?: Promise<Product[]> | undefined }) {
  return (
    <Document {...props}>
      <Client entry="page" state={props} nonce={nonce} />
    </Document>
  )
}

/**
 * Makes a document interactive in the browser. Only the server renders it: a browser hides the values of `nonce` attributes, so it would
 * render something else.
 */
function Client({ entry, state, nonce }: { entry: string; state: State; nonce: string }) {
  const page = pages[entry]
  if (page === undefined) throw new Error(`vite.config.ts has no entry '${entry}'.`)
  return (
    <>
      {/* React moves these into the head. */}
      {page.stylesheets.map((href) => (
        <link key={href} rel="stylesheet" href={href} precedence={entry} />
      ))}
      {/* For the styles that Vite inserts: https://vite.dev/guide/features.html#content-security-policy-csp */}
      {import.meta.env.DEV && <meta property="csp-nonce" nonce={nonce} />}
      <script
        id={STATE_ID}
        type="application/json"
        // As a child, React would escape the quotes for HTML, and a browser does not unescape them inside a script.
        // biome-ignore lint/security/noDangerouslySetInnerHtml: it has no `<`, which alone could end or change a script
        dangerouslySetInnerHTML={{ __html: serializeState(state) }}
      />
      {/* `async`, so that the page works before a stream ends. `onLoad` makes React leave the script here, after its data, instead of
      in the head: https://react.dev/reference/react-dom/components/script */}
      <script type="module" async src={page.script} nonce={nonce} onLoad={ignore} />
    </>
  )
}

function ignore(): void {}
