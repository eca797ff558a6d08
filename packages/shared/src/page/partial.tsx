import type { Locale } from './locales.ts'
import { formatPrice } from './price.ts'
import type { Product } from './product.ts'

interface Props {
  tag: string
  locale: Locale
  tea: Product
}

/** One product as a fragment that another page includes; it is never hydrated. */
export function Partial({ tag, locale, tea }: Props) {
  const { labels, price } = locale
  return (
    <article lang={tag} className={tea.leaf} aria-labelledby={tea.slug}>
      <h2 id={tea.slug}>{tea.name}</h2>
      <p>{locale.about}</p>
      <dl>
        <Fact label={labels.leaf} value={locale.leaves[tea.leaf]} />
        <Fact label={labels.origin} value={locale.countries[tea.country]} />
        <Fact label={labels.harvest} value={locale.seasons[tea.season]} />
        <Fact label={labels.water} value={locale.water(tea.celsius)} />
        <Fact label={labels.time} value={locale.time(tea.minutes)} />
        <Fact label={labels.price} value={locale.per100g(formatPrice(tea.cents, price))} />
      </dl>
      <h3>{locale.brewing}</h3>
      <ol>
        {locale.steps(tea).map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
      <p>{locale.storage}</p>
      <p>{locale.delivery}</p>
    </article>
  )
}

function Fact({ label, value }: { label: string; value: string }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>{value}</dd>
    </div>
  )
}
