import { use } from 'react'
import { formatPrice } from './price.ts'
import { PRODUCTS, type Product, product } from './product.ts'

/**
 * What customers also liked: three teas that the list does not show, if there are any left. It is pure, so the browser computes
 * the same result for hydration and does not have to wait for it or read it from the page.
 */
export function recommend(items: number): Product[] {
  return [3, 17, 31].map((step) => product((items + step) % PRODUCTS))
}

interface Props {
  items: number
  /** The result of the slow back end that `/stream` imitates. Without it the part is rendered at once. */
  pending?: Promise<Product[]> | undefined
}

/** The part inside `<Suspense>`. */
export function Recommendations({ items, pending }: Props) {
  const teas = pending === undefined ? recommend(items) : use(pending)
  return (
    <ul>
      {teas.map(({ slug, name, leaf, cents }) => (
        <li key={slug} className={leaf}>{`${name}, ${formatPrice(cents)}`}</li>
      ))}
    </ul>
  )
}
