import { createServer } from 'node:http'
import { createRequire } from 'node:module'

const require = createRequire(new URL(`${process.argv[2]}/package.json`, import.meta.url))
const { createElement: h } = require('react')
const { renderToString } = require('react-dom/server')

const items = Array.from({ length: 50 }, (_, index) => ({ id: index + 1, price: (index * 37) % 100 }))

function Item({ id, price }) {
  return h(
    'li',
    { className: 'item' },
    h('a', { href: `/items/${id}` }, `Item ${id}`),
    h('span', null, `${price}.00`),
  )
}

function Page() {
  return h(
    'html',
    { lang: 'en' },
    h('head', null, h('title', null, 'Shop')),
    h('body', null, h('ul', null, ...items.map((item) => h(Item, { key: item.id, ...item })))),
  )
}

createServer((_request, response) => {
  response.setHeader('content-type', 'text/html; charset=utf-8')
  response.end(`<!DOCTYPE html>${renderToString(h(Page))}`)
}).listen(process.env.PORT, process.env.HOST)
