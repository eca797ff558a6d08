import { type Product, products } from '@startgrid/shared/page/shop/product.ts'
import { createElement as h } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { findLocale, formatPrice, type Locale } from './locales.ts'

/** The number of products that have a fragment, counted from the first. */
const FRAGMENTS = 50

let slugs: Map<string, Product> | undefined

/**
 * Renders one product as a fragment, which another page includes.
 * @param tag `en-US`, `de-DE` or `fr-FR`
 * @param slug one of the first 50 products, such as `honeyed-assam-black`
 * @returns undefined if either is unknown
 */
export function renderFragment(tag: string, slug: string): string | undefined {
  slugs ??= new Map(products(FRAGMENTS).map((tea) => [tea.slug, tea]))
  const locale = findLocale(tag)
  const tea = slugs.get(slug)
  if (locale === undefined || tea === undefined) return undefined
  return renderToStaticMarkup(h(Fragment, { tag, locale, tea }))
}

interface Props {
  tag: string
  locale: Locale
  tea: Product
}

/** Written without JSX, because Node runs it as it is. */
function Fragment({ tag, locale, tea }: Props) {
  const { labels, price } = locale
  const facts = [
    h(Fact, { label: labels.leaf, value: locale.leaves[tea.leaf] }),
    h(Fact, { label: labels.origin, value: locale.countries[tea.country] }),
    h(Fact, { label: labels.harvest, value: locale.seasons[tea.season] }),
    h(Fact, { label: labels.water, value: locale.water(tea.celsius) }),
    h(Fact, { label: labels.time, value: locale.time(tea.minutes) }),
    h(Fact, { label: labels.price, value: locale.per100g(formatPrice(tea.cents, price)) }),
  ]
  return h(
    'article',
    { lang: tag, className: tea.leaf, 'aria-labelledby': tea.slug },
    h('h2', { id: tea.slug }, tea.name),
    h('p', null, locale.about),
    h('dl', null, ...facts),
    h('h3', null, locale.brewing),
    h('ol', null, ...locale.steps(tea).map((step) => h('li', { key: step }, step))),
    h('p', null, locale.storage),
    h('p', null, locale.delivery),
  )
}

function Fact({ label, value }: { label: string; value: string }) {
  return h('div', null, h('dt', null, label), h('dd', null, value))
}
