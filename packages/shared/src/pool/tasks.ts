import { type PageProps, renderDocument } from '#shared/page/server.js'

/** What the routes of the pool role do, here in the process that serves or there in a worker: the same functions in both. */

/** As little as can be done, so that only the way to the worker and back costs anything. */
export function hello(): { hello: string } {
  return { hello: 'world' }
}

/** As much as a page takes: at 1000 items, milliseconds during which nobody else is served. */
export function page(props: PageProps): string {
  return renderDocument(props)
}
