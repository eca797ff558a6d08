import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Target } from '@startgrid/grid/launcher.ts'
import type { App } from '@startgrid/grid/matrix.ts'
import { ASSETS } from '@startgrid/shared/page/server.js'
import { Clients, findFailures, LIGHT, NEVER_SHED } from '../clients.ts'
import type { Fault, Size } from '../fault.ts'

/** What a slow client does one byte per second of. */
const WAYS = ['headers', 'body', 'reading'] as const
type Way = (typeof WAYS)[number]

/** Seconds after which the last of them must be cut off: the app's own limits, and a look at them every 5 s. */
const LIMITS: Readonly<Record<Way, number>> = { headers: 30, body: 50, reading: 50 }

/** Bun has one limit for both, which must outlive the keep-alive of NGINX (60 s). */
const BUN_LIMITS: typeof LIMITS = { headers: 30, body: 90, reading: 90 }
const BUN_NOTE =
  'A body may take 65 s: idleTimeout is all there is in Bun, and it must outlive the keep-alive of NGINX.'

/** Few who read slowly where answers are small: it takes thousands to fill a connection. */
const COUNTS = {
  short: { headers: 45, body: 45, reading: 10 },
  full: { headers: 200, body: 200, reading: 100 },
} as const satisfies Record<Size, Record<Way, number>>

/** Clients that take or send one byte per second hold connections for hours unless they are cut off. */
export const slowClients: Fault = {
  name: 'slow-clients',
  title: 'clients that send headers, send a body or read at 1 byte/s',
  expected: 'cut off by timeouts, others not affected',
  // They wait, nearly all the time.
  atOnce: 21,
  absent: () =>
    process.platform === 'linux' ? undefined : 'Who is still connected is read from /proc/net/tcp.',
  async run(subject) {
    const { app, size } = subject
    const isBun = app.framework === 'bun'
    // Who does not read is cut off 10 s after a handler would be.
    const env = size === 'short' ? { ...NEVER_SHED, HANDLER_TIMEOUT_MS: '5000' } : NEVER_SHED
    const { target } = await subject.launch({ env })
    const others = new Clients({ target, path: LIGHT[app.role], kept: 1, fresh: 1 })
    const ways = WAYS.filter((way) => !(isBun && size === 'short' && way === 'body'))
    const slow = ways.map((way) => new SlowClients(way, app, target, COUNTS[size][way]))
    const limits = isBun ? BUN_LIMITS : LIMITS
    const findings = (await Promise.all(slow.map((clients) => clients.outlast(limits[clients.way])))).flat()
    const tally = await others.stop()
    const lasted = slow.map(({ way, lastedMs }) => [`${way} s`, Math.round(lastedMs / 1000)])
    return {
      findings: [...findings, ...findFailures(tally, 'beside slow clients')],
      figures: { ...Object.fromEntries(lasted), 'others answered': tally.answered },
      notes: isBun ? [BUN_NOTE] : [],
    }
  },
}

/** What they send at once: a beginning, or so many requests that the answers fill the buffers of the kernel, some MB. */
function opening(way: Way, { role }: App): string {
  const path = LIGHT[role]
  if (way === 'headers') return `GET ${path} HTTP/1.1\r\nhost: localhost\r\nx-slow: `
  if (way === 'body') return `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 60000\r\n\r\n`
  return role === 'ssr' ? get(LARGEST).repeat(60) : get(path).repeat(20_000)
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`

/** Some hundred KB, without work for the app. */
const LARGEST = ASSETS.find(({ url }) => url.endsWith('.js'))?.url ?? '/'

/** Clients that are slow in one way, until the server has let go of them. */
class SlowClients {
  readonly way: Way
  /** Milliseconds until the last one was cut off. */
  lastedMs = 0
  readonly #port: number
  readonly #sockets: Socket[]

  constructor(way: Way, app: App, target: Target, count: number) {
    if (!('port' in target)) throw new Error('Slow clients need a port.')
    this.way = way
    this.#port = target.port
    this.#sockets = Array.from({ length: count }, () => {
      const socket = connect(target)
      socket.on('error', () => {}) // being cut off
      if (way === 'reading') socket.pause()
      else socket.resume()
      socket.write(opening(way, app))
      return socket
    })
  }

  /** Goes on at one byte per second until all are cut off. @returns what is wrong if that takes more than so many seconds */
  async outlast(seconds: number): Promise<string[]> {
    const since = performance.now()
    for (;;) {
      await sleep(1_000)
      const held = this.#held()
      this.lastedMs = performance.now() - since
      if (held.length === 0) return []
      if (this.lastedMs > seconds * 1_000) {
        for (const socket of this.#sockets) socket.destroy()
        return [
          `After ${seconds} s ${held.length} of ${this.#sockets.length} clients are still connected: ${this.way} at 1 byte/s.`,
        ]
      }
      for (const socket of held) {
        if (this.way === 'reading') socket.read(1)
        else socket.write('a')
      }
    }
  }

  /** Whom the server still has: what the client sees of a reset comes behind all that it did not read. */
  #held(): Socket[] {
    const ports = peersOf(this.#port)
    return this.#sockets.filter(({ localPort }) => localPort !== undefined && ports.has(localPort))
  }
}

const ESTABLISHED = '01'
const CLOSE_WAIT = '08'

/** The ports of those whom a server on this machine has a connection with (https://docs.kernel.org/networking/proc_net_tcp.html). */
function peersOf(port: number): Set<number> {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`
  const peers = new Set<number>()
  for (const line of readFileSync('/proc/net/tcp', 'latin1').split('\n')) {
    const [, local, remote = '', state] = line.trim().split(/\s+/)
    if (local?.endsWith(suffix) && (state === ESTABLISHED || state === CLOSE_WAIT))
      peers.add(Number.parseInt(remote.slice(-4), 16))
  }
  return peers
}
