import { equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { ASSETS, renderPage } from '#shared/page/server.js'

const NONCE = 'MDEyMzQ1Njc4OWFiY2RlZmdo'

function render(items: number, requestId = 'r-1', nonce = NONCE): string {
  return renderPage('shop', { items, requestId, nonce })
}

function count(html: string, tag: string): number {
  return html.split(`<${tag}>`).length - 1
}

test('the bytes depend on items, request id and nonce alone', () => {
  equal(render(50), render(50))
  const other = render(50, 'r-2', 'aGdmZWRjYmE5ODc2NTQzMjEw')
  equal(other.replaceAll('r-2', 'r-1').replaceAll('aGdmZWRjYmE5ODc2NTQzMjEw', NONCE), render(50))
})

test('the page has as many products as were asked for', () => {
  for (const items of [0, 1, 50, 1000]) {
    const html = render(items)
    equal(count(html, 'h3'), items)
    ok(html.includes(`<output for="filter">${items} of ${items}</output>`))
  }
})

test('it is a whole document that names its language, its size and its files', () => {
  const html = render(1)
  match(html, /^<!DOCTYPE html><html lang="en"><head><meta charSet="utf-8"\/>.*<\/body><\/html>$/s)
  match(html, /<meta name="viewport" content="width=device-width, initial-scale=1"\/>/)
  match(html, /<title>[^<]+<\/title>/)
  for (const url of ASSETS) equal(html.split(`"${url}"`).length, 2, url)
})

test('the script comes after all that it hydrates and carries the nonce', () => {
  match(
    render(1),
    new RegExp(
      '</footer><script id="state" type="application/json">[^<]*</script>' +
        `<script type="module" async="" src="/assets/shop-[\\w-]{8}\\.js" nonce="${NONCE}"></script></body>`,
    ),
  )
})

test('nothing in it needs a laxer policy: no inline style, handler or script', () => {
  const html = render(50)
  ok(!/<style|\sstyle=|\son[a-z]+=|javascript:/i.test(html))
  equal(html.match(/<script/g)?.length, 2)
})

test('a request id cannot leave its element or the state', () => {
  const requestId = '</script><!--<script>alert("1")</script>&\u2028'
  const html = render(0, requestId)
  ok(!html.includes('alert("1")</script>'))
  ok(!html.includes('<!--<script>'))
  ok(
    html.includes(
      '<code>&lt;/script&gt;&lt;!--&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;\u2028</code>',
    ),
  )
  const [, state = ''] = /<script id="state" type="application\/json">(.*?)<\/script>/s.exec(html) ?? []
  equal(JSON.parse(state).requestId, requestId)
})
