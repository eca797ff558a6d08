import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { formatPrice, PRODUCTS, product, products } from '../../src/page/shop/product.ts'

test('a product depends on its number alone', () => {
  deepEqual(product(7), product(7))
  deepEqual(product(0), {
    slug: 'honeyed-assam-black',
    name: 'Honeyed Assam Black',
    leaf: 'black',
    country: 'India',
    season: 'spring',
    cents: 390,
    celsius: 95,
    minutes: 4,
  })
})

test('no two products share a slug, and a slug needs no escaping', () => {
  const slugs = products(PRODUCTS).map(({ slug }) => slug)
  equal(new Set(slugs).size, PRODUCTS)
  for (const slug of slugs) ok(/^[a-z]+(?:-[a-z]+)+$/.test(slug), slug)
})

test('prices are written as Intl writes them', () => {
  const intl = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'EUR' })
  for (const cents of [0, 5, 99, 100, 390, 1210, 99_999]) equal(formatPrice(cents), intl.format(cents / 100))
})
