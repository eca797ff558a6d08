import { type PageProps, renderPage } from '@startgrid/shared/page/server.js'

/** What the routes do, in the process that serves or in a worker: the same functions in both. */

/** As little as can be done, so that only the way to the worker and back costs anything. */
export function hello(): { hello: string } {
  return { hello: 'world' }
}

/** As much as a page takes: at 1000 items, milliseconds during which nobody else is served. */
export function page(props: PageProps<'shop'>): string {
  return renderPage('shop', props)
}
