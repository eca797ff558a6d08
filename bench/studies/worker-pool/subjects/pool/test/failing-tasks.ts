import { threadId } from 'node:worker_threads'
import type { PageProps } from '@startgrid/shared/page/server.js'

/** Tasks that go wrong: one ends its worker, one never ends without items, and throws with 13. */

export function hello(): never {
  process.exit(7)
}

export function page({ items }: PageProps<'shop'>): string {
  while (items === 0);
  if (items === 13) throw new RangeError('no page 13')
  return `${items} items by ${process.pid}/${threadId}`
}
