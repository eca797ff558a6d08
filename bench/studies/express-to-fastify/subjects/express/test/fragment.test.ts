import { equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { products } from '@startgrid/shared/page/shop/product.ts'
import { renderFragment } from '../src/fragment.ts'

test('a fragment tells the facts of its product', () => {
  const html = renderFragment('honeyed-assam-black') ?? ''
  match(html, /^<article lang="en-US" class="black".*Honeyed Assam Black<\/h2>.*<\/article>$/)
  const facts = [...html.matchAll(/<dd>(.*?)<\/dd>/g)].map(([, text]) => text)
  equal(facts.join('|'), 'Black tea|India|Spring|203\u00a0°F|4\u00a0min|€3.90 per 3.5 oz')
})

test('every one of the first 50 products has a fragment, the next and what is no product has none', () => {
  const [extra, ...rest] = products(51).reverse()
  for (const { slug } of rest) ok(renderFragment(slug), slug)
  for (const slug of [extra?.slug ?? '', '', 'constructor', 'HONEYED-ASSAM-BLACK'])
    equal(renderFragment(slug), undefined, slug)
})
