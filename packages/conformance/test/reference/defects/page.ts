import { headerValue } from '../../../src/http/header.ts'
import { content, header, onPath, onStatus } from '../alterations.ts'
import { problemText } from '../app.ts'
import { CORRECT } from '../behaviour.ts'
import { replaceBody, replaceHeader } from '../message.ts'
import { type Defect, ssr } from './defect.ts'

const DOCUMENT = 'the document works under its own policy'
const INVALID_ITEMS = 'items that are no whole number up to 1000 are 400'

export const page: readonly Defect[] = [
  ssr('pages that a shared cache may keep', DOCUMENT, onPath('/', header('cache-control', 'no-cache'))),
  ssr(
    'fonts not allowed',
    DOCUMENT,
    onPath('/', (a) =>
      replaceHeader(
        a,
        'content-security-policy',
        String(headerValue(a.headers, 'content-security-policy')).replace(" font-src 'self';", ''),
      ),
    ),
  ),
  ssr(
    'another field in the errors',
    INVALID_ITEMS,
    onStatus(400, content(problemText(400, { field: 'delay' }))),
  ),
  ssr('errors without a reason', INVALID_ITEMS, {
    finish: (a) =>
      a.status === 400 ? replaceBody(a, String(a.body).replace(/"reason":"[^"]*"/, '"reason":""')) : a,
  }),
  ssr('a stack as the reason', INVALID_ITEMS, {
    finish: (a) =>
      a.status === 400 ? replaceBody(a, String(a.body).replace('in range', 'in range\\n  at x')) : a,
  }),
  ssr('nonces reused', DOCUMENT, { nonce: () => 'AAAAAAAAAAAAAAAAAAAAAAAA' }),
  ssr('a short nonce', DOCUMENT, { nonce: () => crypto.randomUUID().slice(0, 16) }),
  ssr('another nonce in the markup', DOCUMENT, {
    html: (html, nonce) => html.replaceAll(nonce, 'B'.repeat(24)),
  }),
  ssr('an inline style', DOCUMENT, { html: (html) => html.replace('<main>', '<main style="color:red">') }),
  ssr('a style element', DOCUMENT, { html: (html) => html.replace('</head>', '<style>a{}</style></head>') }),
  ssr('an inline handler', DOCUMENT, { html: (html) => html.replace('<main>', '<main onclick="f()">') }),
  ssr('the id not in the page', DOCUMENT, {
    html: (html) => html.replace(/<code>[^<]*<\/code>/, '<code></code>'),
  }),
  ssr('no doctype', DOCUMENT, { html: (html) => html.replace('<!DOCTYPE html>', '') }),
  ssr(
    'the page policy on 404',
    'an unknown path is 404',
    onStatus(404, (a) =>
      replaceHeader(a, 'content-security-policy', "default-src 'none'; script-src 'nonce-x'"),
    ),
  ),
  ssr('another word in the page', 'the document is the page, byte for byte', {
    html: (html) => html.replace('Our teas', 'Teas'),
  }),
  ssr('a time in the page', 'two equal requests differ only in id and nonce', {
    html: (html) => html.replace('Our teas', `Our teas at ${process.hrtime.bigint()}`),
  }),
  ssr('no script', 'the page loads its assets', {
    html: (html) => html.replace(/<script type="module".*?<\/script>/, ''),
  }),
  ssr('items off by one', 'items is the number of products', {
    count: (values, fallback, max) => offByOne(CORRECT.count(values, fallback, max), max),
  }),
  ssr('another default', 'items is 50 where it is absent', {
    count: (values, _, max) => CORRECT.count(values, 49, max),
  }),
  ssr('items[] read as items', 'items is 50 where it is absent', {
    path: (target) => CORRECT.path(target),
    refuse: (r) => (r.target.includes('items[]') ? 400 : CORRECT.refuse(r)),
  }),
  ssr('items=5a accepted', INVALID_ITEMS, {
    count: (values, fallback, max) =>
      CORRECT.count(
        values.map((value) => value.replace(/^(\d)[a-z]+$/, '$1')),
        fallback,
        max,
      ),
  }),
  ssr('a delay of 5001 accepted', 'a delay that is not a whole number up to 5000 is 400', {
    count: (values, fallback, max) => CORRECT.count(values, fallback, max === 5000 ? 5001 : max),
  }),
  ssr('items=1001 accepted', INVALID_ITEMS, {
    count: (values, fallback) => CORRECT.count(values, fallback, 1001),
  }),
  ssr('the first of two items taken', 'items given twice are 400', {
    count: (values, fallback, max) => CORRECT.count(values.slice(0, 1), fallback, max),
  }),
  ssr('a bad query refused', 'items are read among other parameters', {
    refuse: (r) => (r.target.includes('%zz') ? 400 : CORRECT.refuse(r)),
  }),
]

function offByOne(count: number | undefined, max: number): number | undefined {
  return count === undefined ? undefined : Math.min(max, count + 1)
}
