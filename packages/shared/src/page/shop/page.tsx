import { Suspense, use } from 'react'
import type { DocumentProps } from '../pages.ts'
import { Catalogue } from './catalogue.tsx'
import icon from './favicon.svg'
import './page.css'
import { formatPrice, type Product, recommend } from './product.ts'

/** The whole document, the same on the server and in the browser. */
export default function Shop({ items, requestId, pending, children }: DocumentProps<'shop'>) {
  return (
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>Leaf &amp; Kettle: single-origin teas</title>
        <meta name="description" content="Single-origin teas from seven countries, sold by weight." />
        <link rel="icon" type="image/svg+xml" href={icon} />
      </head>
      <body>
        <header>
          <h1>Leaf &amp; Kettle</h1>
          <p>Single-origin teas from seven countries, sold by weight and packed on the day they leave.</p>
        </header>
        <main>
          <Catalogue items={items} />
          <aside aria-labelledby="liked">
            <h2 id="liked">Customers also liked</h2>
            <Suspense fallback={<p>Asking around…</p>}>
              <Recommendations items={items} pending={pending} />
            </Suspense>
          </aside>
        </main>
        <footer>
          <p>
            Rendered for request <code>{requestId}</code>
          </p>
        </footer>
        {children}
      </body>
    </html>
  )
}

interface Props {
  items: number
  /** The result of the slow back end that `/stream` imitates. Without it the part is rendered at once. */
  pending?: Promise<Product[]> | undefined
}

/** The part inside `<Suspense>`. */
function Recommendations({ items, pending }: Props) {
  const teas = pending === undefined ? recommend(items) : use(pending)
  return (
    <ul>
      {teas.map(({ slug, name, leaf, cents }) => (
        <li key={slug} className={leaf}>{`${name}, ${formatPrice(cents)}`}</li>
      ))}
    </ul>
  )
}
