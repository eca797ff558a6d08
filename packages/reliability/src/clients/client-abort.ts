import { connect } from 'node:net'
import type { Target } from '@startgrid/grid/launcher.ts'

/** A client that leaves before the end of the response. */
export interface ClientAbort {
  readonly path: string
  /** Whether it leaves after the first bytes of the response, or before them. */
  readonly sawBytes: boolean
}

/** Client aborts alternate: one closes its connection in order, the next one resets it. */
let aborts = 0

/** Sends a request and leaves. @throws {Error} if there is no connection, or no response to leave, within 60 s */
export function leave(target: Target, { path, sawBytes }: ClientAbort): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const socket = connect('socketPath' in target ? { path: target.socketPath } : target)
  aborts += 1
  const isOrderly = aborts % 2 === 0
  const go = (): void => void (isOrderly ? socket.destroy() : socket.resetAndDestroy())
  socket.setTimeout(60_000, () => {
    const missing = socket.connecting ? 'no connection' : 'no byte of a response'
    reject(new Error(`GET ${path}: ${missing} within 60 s.`))
    socket.destroy()
  })
  socket.once('error', reject).once('close', () => resolve())
  socket.write(`GET ${path} HTTP/1.1\r\nhost: app\r\n\r\n`, () => {
    if (!sawBytes) setImmediate(go)
  })
  if (sawBytes) socket.once('data', go)
  return promise
}
