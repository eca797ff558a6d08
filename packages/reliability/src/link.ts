import { once } from 'node:events'
import { createServer, type Server } from 'node:net'
import { connect, type Target } from '@startgrid/wire/target.ts'

/** What the link says if nobody listens at its other end: it has accepted the connection already. */
export const REFUSED = 421

/** A link to a server, with a latency of `ms` one way: what a client asks for and what the server closes may meet on it. */
export async function openLink(target: Target, ms: number): Promise<Server> {
  const link = createServer((near) => {
    const far = connect(target)
    far.on('error', ({ code }: NodeJS.ErrnoException) => {
      if (code === 'ECONNREFUSED')
        near.end(`HTTP/1.1 ${REFUSED}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
    })
    for (const [from, to] of [[near, far] as const, [far, near] as const]) {
      from.on('data', (bytes) => setTimeout(() => to.writable && to.write(bytes), ms))
      from.on('error', () => {}).on('close', () => setTimeout(() => to.destroySoon(), ms))
    }
  })
  await once(link.listen(0, '127.0.0.1'), 'listening')
  return link
}
