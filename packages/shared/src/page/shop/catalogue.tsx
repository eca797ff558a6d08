import { useEffect, useMemo, useRef, useState } from 'react'
import { formatPrice, type Product, products } from './product.ts'

/** The list of products and the filter above it. */
export function Catalogue({ items }: { items: number }) {
  const [query, setQuery] = useState('')
  const filter = useRef<HTMLInputElement>(null)
  // React gets no event for text that was typed before hydration, or restored by the browser after "back".
  useEffect(() => setQuery(filter.current?.value ?? ''), [])
  const all = useMemo(() => products(items), [items])
  const shown = all.filter((tea) => matches(tea, query))

  return (
    <section aria-labelledby="teas">
      <h2 id="teas">Our teas</h2>
      <search aria-label="Teas">
        <label htmlFor="filter">Filter by name, leaf or country</label>
        <input
          ref={filter}
          id="filter"
          type="search"
          autoComplete="off"
          onInput={(event) => setQuery(event.currentTarget.value)}
        />
        <output htmlFor="filter">{`${shown.length} of ${items}`}</output>
      </search>
      <ul className="teas">
        {shown.map((tea) => (
          <Tea key={tea.slug} {...tea} />
        ))}
      </ul>
    </section>
  )
}

function Tea({ name, leaf, country, season, celsius, minutes, cents }: Product) {
  return (
    <li className={leaf}>
      <h3>{name}</h3>
      <p>{`Single-origin ${leaf} tea from ${country}, picked in ${season}. Brew ${minutes} minutes at ${celsius}\u00a0°C.`}</p>
      <p className="price">{`${formatPrice(cents)} / 100 g`}</p>
    </li>
  )
}

/** Whether every word of the query occurs, in any order. */
function matches({ name, country }: Product, query: string): boolean {
  const text = `${name} ${country}`.toLowerCase()
  const words = query.toLowerCase().split(/\s+/)
  return words.every((word) => text.includes(word))
}
