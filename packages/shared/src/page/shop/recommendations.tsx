import { use } from 'react'
import { formatPrice, type Product, recommend } from './product.ts'

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
