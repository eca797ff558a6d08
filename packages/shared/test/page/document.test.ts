import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import * as built from '#shared/page/server.js'
import type * as bun from '../../src/page/dev/bun.ts'
import type * as node from '../../src/page/dev/node.ts'
import type * as source from '../../src/page/entry-server.tsx'
import type * as declared from '../../src/page/server.d.ts'

const NONCE = 'MDEyMzQ1Njc4OWFiY2RlZmdo'

const render = (items: number, requestId = 'r-1') =>
  built.renderPage('shop', { items, requestId, nonce: NONCE })

test('server.d.ts declares what entry-server.tsx and its replacements in development export', () => {
  // The type check compares the types in both directions; at run time only the names are left.
  const toDeclared = (module: typeof source | typeof node | typeof bun): typeof declared => module
  const toSource = (module: typeof declared): typeof source => module
  const names = ['ASSETS', 'ASSETS_DIR', 'pageElement', 'renderPage']
  deepEqual(Object.keys(toSource(toDeclared(built))).sort(), names)
})

test('it is a whole document that names its language, its size and its files; the script comes last', () => {
  const html = render(50)
  match(html, /^<!DOCTYPE html><html lang="en"><head><meta charSet="utf-8"\/>.*<\/body><\/html>$/s)
  match(html, /<meta name="viewport" content="width=device-width, initial-scale=1"\/>/)
  match(html, /<title>[^<]+<\/title>/)
  for (const url of built.ASSETS) equal(html.split(`"${url}"`).length, 2, url)
  const state = '</footer><script id="state" type="application/json">[^<]*</script>'
  const script = `<script type="module" async="" src="/assets/shop-[\\w-]{8}\\.js" nonce="${NONCE}"></script>`
  match(html, new RegExp(`${state}${script}</body>`))
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
  const escaped = '&lt;/script&gt;&lt;!--&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;\u2028'
  ok(html.includes(`<code>${escaped}</code>`))
  const [, state = ''] = /<script id="state" type="application\/json">(.*?)<\/script>/s.exec(html) ?? []
  equal(JSON.parse(state).requestId, requestId)
})
