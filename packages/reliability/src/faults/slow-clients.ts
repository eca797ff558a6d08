import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type App, findFramework, type Role } from '@startgrid/grid/apps.ts'
import { NEVER_SHED, type Target } from '@startgrid/grid/launcher.ts'
import { ASSETS } from '@startgrid/shared/page/server.js'
import { findFailures, LIGHT } from '../clients/clients.ts'
import { statusOf } from '../clients/status.ts'
import type { Fault } from '../fault.ts'
import { countFiles } from '../subject/footprint.ts'
import type { Size } from '../subject/subject.ts'

/** What a slow client does one byte per second of. */
const WAYS = ['headers', 'body', 'reading'] as const
type Way = (typeof WAYS)[number]

/**
 * Seconds after which the last of them must be cut off: twice as long as the apps take when nothing else runs, because machines are
 * busy. Bun has one limit for a body and for reading, which must outlive the keep-alive of NGINX (60 s). Node's own (30 s) counts
 * twice for who reads: its timer begins once more when it sees that a part of the last write has gone. (15 s in short runs.)
 */
const limitOf = (way: Way, size: Size): number =>
  ({ headers: 45, body: 90, reading: size === 'short' ? 90 : 130 })[way]

/** In short runs without what takes more than a minute (Bun's body), or thousands of responses (reading small ones). */
function waysOf({ runtime, role }: App, size: Size): readonly Way[] {
  const leavesBody = runtime === 'nginx' || (runtime === 'bun' && size === 'short')
  const readsSmall = role !== 'ssr' && size === 'short'
  return WAYS.filter((way) => !(way === 'body' && leavesBody) && !(way === 'reading' && readsSmall))
}

/** Files that the other clients, and whatever a server opens now and then, may add. */
const OTHER_FILES = 3

/** How many are slow in a way. Fewer read where responses are small: thousands of those fill one connection. */
function countOf(way: Way, size: Size, role: Role): number {
  if (way !== 'reading') return size === 'short' ? 45 : 200
  if (role !== 'ssr') return 6
  return size === 'short' ? 10 : 100
}

/** Clients that take or send one byte per second hold connections for hours unless they are cut off. */
export const slowClients: Fault = {
  name: 'slow-clients',
  title: 'clients that send headers, send a body or read at 1 byte/s',
  expected: 'cut off by timeouts, others not affected',
  // They wait, but for the first seconds: 100 readers have 6,000 files opened. With 21 at once on two cores, readers of four apps were
  // not cut off after 90 s; alone it takes 63.
  atOnce: 7,
  absent: () => (process.platform === 'linux' ? undefined : 'Who is still connected is seen in /proc.'),
  async run(subject) {
    const { app, size } = subject
    // A client that does not read is cut off 10 s after the handler timeout.
    const env = size === 'short' ? { ...NEVER_SHED, HANDLER_TIMEOUT_MS: '5000' } : NEVER_SHED
    const launched = await subject.launch({ env, timeoutMs: 60_000 }) // many start at once
    const { target } = launched
    await statusOf(target, LIGHT[app.role])
    const files = (countFiles(launched) ?? 0) + OTHER_FILES
    // For 90 s: without a longer pause, they alone would keep a core busy for a third of it.
    const pauseMs = size === 'short' ? 50 : 5
    const others = subject.clients({ target, path: LIGHT[app.role], kept: 1, fresh: 1, pauseMs })
    const slow = waysOf(app, size).map(
      (way) => new SlowClients(way, app, target, countOf(way, size, app.role)),
    )
    // How a server let go of a client is behind all that this did not read. So when all others are gone, it may have no more files.
    const left = (clients: SlowClients) => {
      const senders = sum(slow.filter(({ way }) => way !== 'reading').map(({ connected }) => connected))
      if (clients.way !== 'reading' || senders > 0) return clients.connected
      return Math.max(0, (countFiles(launched) ?? 0) - files)
    }
    const lasted = await Promise.all(slow.map((clients) => clients.outlast(limitOf(clients.way, size), left)))
    const tally = await others.stop()
    return {
      findings: [
        ...lasted.flatMap(({ findings }) => findings),
        ...findFailures(tally, 'beside slow clients'),
      ],
      figures: {
        ...Object.fromEntries(lasted.map(({ way, seconds }) => [`${way} s`, seconds])),
        'other responses': tally.responded,
      },
      notes: [findFramework(app.framework).remarks?.['slow-clients'] ?? []].flat(),
    }
  },
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)

/** What they send at once: a beginning, or so many requests that the responses fill the buffers of the kernel, some MB. */
function opening(way: Way, { role }: App): string {
  const path = LIGHT[role]
  if (way === 'headers') return `GET ${path} HTTP/1.1\r\nhost: localhost\r\nx-slow: `
  if (way === 'body') return `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 60000\r\n\r\n`
  return role === 'ssr' ? get(LARGEST).repeat(60) : get(path).repeat(20_000)
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`

/** Some hundred KB, without work for the app. */
const LARGEST = ASSETS.find((url) => url.endsWith('.js')) ?? '/'

/** Clients that are slow in one way, until the server has let go of them. */
class SlowClients {
  readonly way: Way
  readonly #sockets: Set<Socket>
  readonly #count: number

  constructor(way: Way, app: App, target: Target, count: number) {
    this.way = way
    this.#count = count
    this.#sockets = new Set(Array.from({ length: count }, () => this.#open(app, target)))
  }

  /** Clients whose connection has not ended. */
  get connected(): number {
    return this.#sockets.size
  }

  /** Goes on at one byte per second until none is left, or for so many seconds. */
  async outlast(limit: number, left: (clients: SlowClients) => number) {
    const since = performance.now()
    for (;;) {
      await sleep(1_000)
      const count = left(this)
      const seconds = Math.round((performance.now() - since) / 1_000)
      if (count > 0 && seconds <= limit) {
        this.#drip()
        continue
      }
      for (const socket of this.#sockets) socket.destroy()
      const what = `${limit} s after ${this.#count} clients came, ${count} connections or files of theirs are open: ${this.way} at 1 byte/s.`
      return { way: this.way, seconds, findings: count > 0 ? [what] : [] }
    }
  }

  #open(app: App, target: Target): Socket {
    const socket = connect('port' in target ? target : { path: target.socketPath })
    socket.on('error', () => {}) // being cut off
    socket.once('close', () => this.#sockets.delete(socket))
    if (this.way === 'reading') socket.pause()
    else socket.resume()
    socket.write(opening(this.way, app))
    return socket
  }

  #drip(): void {
    for (const socket of this.#sockets) {
      if (this.way === 'reading') socket.read(1)
      else socket.write('a')
    }
  }
}
