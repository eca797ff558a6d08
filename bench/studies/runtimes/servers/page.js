const items = Array.from({ length: 50 }, (_, index) => ({ id: index + 1, price: (index * 37) % 100 }))

function Item({ h, id, price }) {
  return h(
    'li',
    { className: 'item' },
    h('a', { href: `/items/${id}` }, `Item ${id}`),
    h('span', null, `${price}.00`),
  )
}

function Page({ h }) {
  return h(
    'html',
    { lang: 'en' },
    h('head', null, h('title', null, 'Shop')),
    h('body', null, h('ul', null, ...items.map((item) => h(Item, { key: item.id, h, ...item })))),
  )
}

/** @returns what renders a page of 50 items, with the React that is given */
export function createPage({ createElement: h }, { renderToString }) {
  return () => `<!DOCTYPE html>${renderToString(h(Page, { h }))}`
}
