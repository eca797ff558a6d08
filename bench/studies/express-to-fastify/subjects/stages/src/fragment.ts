import { type Product, products } from '@startgrid/shared/page/shop/product.ts'
import { createElement as h } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'

const FRAGMENTS = new Map(products(50).map((tea) => [tea.slug, tea]))

/**
 * Renders one product as a fragment, which another page includes.
 * @param slug one of the first 50 products, such as `honeyed-assam-black`
 * @returns undefined if there is none
 */
export function renderFragment(slug: string): string | undefined {
  const tea = FRAGMENTS.get(slug)
  return tea && renderToStaticMarkup(h(Fragment, { tea }))
}

const capitalize = (word: string) => word.charAt(0).toUpperCase() + word.slice(1)
const fahrenheit = (celsius: number) => `${Math.round(celsius * 1.8 + 32)}\u00a0°F`

/** Written without JSX, because Node runs it as it is. */
function Fragment({ tea }: { tea: Product }) {
  const water = fahrenheit(tea.celsius)
  const facts = {
    Leaf: `${capitalize(tea.leaf)}${tea.leaf === 'oolong' ? '' : ' tea'}`,
    Origin: tea.country,
    Harvest: tea.season === 'autumn' ? 'Fall' : capitalize(tea.season),
    Water: water,
    Time: `${tea.minutes}\u00a0min`,
    Price: `€${(tea.cents / 100).toFixed(2)} per 3.5 oz`,
  }
  const steps = [
    'Warm the pot, then empty it.',
    'Use one level teaspoon of leaves per cup.',
    `Pour on fresh water at ${water} and cover.`,
    `Wait ${tea.minutes} minutes, then take the leaves out. They are good for a second pot.`,
  ]
  return h(
    'article',
    { lang: 'en-US', className: tea.leaf, 'aria-labelledby': tea.slug },
    h('h2', { id: tea.slug }, tea.name),
    h('p', null, ABOUT),
    h('dl', null, ...Object.entries(facts).map(([label, value]) => h(Fact, { label, value }))),
    h('h3', null, 'How to brew it'),
    h('ol', null, ...steps.map((step) => h('li', { key: step }, step))),
    h('p', null, STORAGE),
    h('p', null, DELIVERY),
  )
}

const ABOUT =
  'From a single garden and a single harvest, never blended or flavored. Every lot is tasted blind against the last one; only when it is at least as good does it keep its name.'
const STORAGE =
  'Keep it dry, dark and closed, away from coffee and spices. It is at its best for eighteen months.'
const DELIVERY = 'Packed on the day it leaves. Free delivery above €40, returns within 30 days.'

function Fact({ label, value }: { label: string; value: string }) {
  return h('div', null, h('dt', null, label), h('dd', null, value))
}
