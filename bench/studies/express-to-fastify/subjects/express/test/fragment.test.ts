import { equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { products } from '@startgrid/shared/page/shop/product.ts'
import { renderFragment } from '../src/fragment.ts'

const SLUG = 'honeyed-assam-black'

test('the fragment speaks the language of its locale', () => {
  const facts = {
    'en-US': ['Black tea', 'India', 'Spring', '203\u00a0°F', '4\u00a0min', '€3.90 per 3.5 oz'],
    'de-DE': ['Schwarztee', 'Indien', 'Frühjahr', '95\u00a0°C', '4\u00a0min', '3,90\u00a0€ je 100\u00a0g'],
    'fr-FR': ['Thé noir', 'Inde', 'Printemps', '95\u00a0°C', '4\u00a0min', '3,90\u00a0€ les 100\u00a0g'],
  }
  for (const [locale, expected] of Object.entries(facts)) {
    const html = renderFragment(locale, SLUG) ?? ''
    match(html, new RegExp(`^<article lang="${locale}" class="black".*</article>$`))
    ok(html.includes('Honeyed Assam Black</h2>'))
    equal([...html.matchAll(/<dd>(.*?)<\/dd>/g)].map(([, text]) => text).join('|'), expected.join('|'))
  }
})

test('every one of the first 50 products has a fragment, the next has none', () => {
  const [extra, ...rest] = products(51).reverse()
  for (const { slug } of rest) ok(renderFragment('en-US', slug), slug)
  equal(renderFragment('en-US', extra?.slug ?? ''), undefined)
})

test('an unknown locale or slug has no fragment', () => {
  for (const locale of ['en', 'en-us', 'EN-US', '', 'constructor', '__proto__']) {
    equal(renderFragment(locale, SLUG), undefined, locale)
  }
  for (const slug of ['', 'tea', 'constructor', SLUG.toUpperCase(), `${SLUG}/`]) {
    equal(renderFragment('en-US', slug), undefined, slug)
  }
})
