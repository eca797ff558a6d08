import { assets, pages } from 'virtual:client'
import type { ComponentType, ReactElement, ReactNode } from 'react'
import { renderToString } from 'react-dom/server'
import type { PageName, PageProps } from './pages.ts'

/** The documents by path, such as `./shop/page.tsx`. */
const documents = import.meta.glob<ComponentType<{ children: ReactNode }>>('./*/page.tsx', {
  eager: true,
  import: 'default',
})

/** URLs of the scripts and stylesheets that the pages load. Each file has siblings that end in `.br` and `.gz`. */
export const ASSETS = assets

/** The directory of the files below `/assets/`. */
export const ASSETS_DIR = /* @__PURE__ */ new URL('../assets/', import.meta.url)

/** Only in development, in dev.ts. */
export const vite = undefined

/** The whole document, doctype included. */
export function renderPage<Name extends PageName>(name: Name, props: PageProps<Name>): string {
  // Streams write the doctype themselves; `renderToString` does not.
  return `<!DOCTYPE html>${renderToString(pageElement(name, props))}`
}

/**
 * The same document for `renderToPipeableStream` or `renderToReadableStream`, one element per request. Pass the `nonce` to
 * those functions as well: React's inline scripts need it.
 */
export function pageElement<Name extends PageName>(
  name: Name,
  { nonce, ...props }: PageProps<Name>,
): ReactElement {
  const Document = documents[`./${name}/page.tsx`]
  if (Document === undefined) throw new Error(`There is no page/${name}/page.tsx.`)
  return (
    <Document {...props}>
      <Client name={name} props={props} nonce={nonce} />
    </Document>
  )
}

/**
 * Makes a document interactive in the browser. Only the server renders it: a browser hides the values of `nonce` attributes, so it would
 * render something else. React keeps unknown elements at the end of the body during hydration, because browser extensions add some too.
 */
function Client({ name, props, nonce }: { name: string; props: object; nonce: string }) {
  const page = pages[name]
  if (page === undefined) throw new Error(`There is no page/${name}/client.tsx.`)
  return (
    <>
      {/* React moves these into the head. */}
      {page.stylesheets.map((href) => (
        <link key={href} rel="stylesheet" href={href} precedence={name} />
      ))}
      <script
        id="state"
        type="application/json"
        // As a child, React would escape the quotes for HTML, and a browser does not unescape them inside a script.
        // biome-ignore lint/security/noDangerouslySetInnerHtml: it has no `<`, which alone could end or change a script
        dangerouslySetInnerHTML={{ __html: serialize(props) }}
      />
      {/* `async`, so that the page works before a stream ends. `onLoad` makes React leave the script here, after its data, instead of
      in the head: https://react.dev/reference/react-dom/components/script */}
      <script type="module" async src={page.script} nonce={nonce} onLoad={ignore} />
    </>
  )
}

/** JSON that has no `<`, so neither `</script` nor `<!--` can end or change the script. */
function serialize(props: object): string {
  const json = JSON.stringify(props, (_key, value) => (value instanceof Promise ? undefined : value))
  return json.replace(/</g, '\\u003c')
}

function ignore(): void {}
