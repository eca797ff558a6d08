import { connect } from 'node:net'
import { until } from '@startgrid/cli/until.ts'
import type { App } from '@startgrid/grid/apps.ts'
import { NEVER_SHED } from '@startgrid/grid/launcher.ts'
import { ASSETS } from '@startgrid/shared/page/server.js'
import { ask } from '../clients/ask.ts'
import { findFailures, LIGHT } from '../clients/clients.ts'
import type { Fault } from '../fault.ts'
import { countFiles } from '../subject/footprint.ts'
import type { Subject } from '../subject/subject.ts'

/**
 * What slow clients do at one byte per second, how many do, and seconds after which the last must be cut off: twice as long as the apps take when
 * nothing else runs. Node's time for reading (15 s here) counts twice, because it begins again when a part of the last write has left.
 */
const WAYS = {
  headers: { count: 45, limitS: 45 },
  body: { count: 45, limitS: 90 },
  reading: { count: 10, limitS: 90 },
} as const
type Way = keyof typeof WAYS

/** Files that the other clients, and whatever a server opens now and then, may add. */
const OTHER_FILES = 3

/** Clients that take or send one byte per second hold connections for hours unless they are cut off. */
export const slowClients: Fault = {
  name: 'slow-clients',
  summary: 'clients that send headers, send a body or read at 1 byte/s are cut off, others are served',
  atOnce: 7, // they wait
  absent: () => (process.platform === 'linux' ? undefined : 'Who is still connected is seen in /proc.'),
  async run(subject) {
    const { runtime, role } = subject.app
    // NGINX limits only the time between two reads of a body. Bun has one limit of more than a minute for a body and for reading.
    const ways: Way[] = runtime === 'node' ? ['headers', 'body'] : ['headers']
    // Where responses are small, it takes thousands of them to fill the buffers of the kernel.
    if (role === 'ssr') ways.push('reading')
    const findings = await Promise.all(ways.map((way) => judgeWay(subject, way)))
    return findings.flat()
  },
}

/** Clients that are slow in one way, until the app has let go of them. */
async function judgeWay(subject: Subject, way: Way): Promise<string[]> {
  const path = LIGHT[subject.app.role]
  const { count, limitS } = WAYS[way]
  // A client that does not read is cut off 10 s after the handler timeout. Many apps start at once.
  const env = { ...NEVER_SHED, HANDLER_TIMEOUT_MS: '5000' }
  const launched = await subject.launch({ env, timeoutMs: 120_000 })
  const { target } = launched
  await ask(target, path)
  const files = (countFiles(launched) ?? 0) + OTHER_FILES
  const others = subject.clients({ target, path, kept: 1, fresh: 1, pauseMs: 50 })
  const sockets = new Set(
    Array.from({ length: count }, () => connect('port' in target ? target : { path: target.socketPath })),
  )
  for (const socket of sockets) {
    socket.on('error', () => {}).once('close', () => sockets.delete(socket)) // being cut off
    if (way === 'reading') socket.pause()
    else socket.resume()
    socket.write(opening(way, subject.app))
  }
  const drip = setInterval(() => {
    for (const socket of sockets) way === 'reading' ? socket.read(1) : socket.write('a')
  }, 1_000)
  // How a server let go of a reader is behind all that this one did not read, so the server's files are counted.
  const left = () => (way === 'reading' ? Math.max(0, (countFiles(launched) ?? 0) - files) : sockets.size)
  const findings: string[] = []
  try {
    await until('no slow client was accepted', () => left() > 0)
    await until('some are left', () => left() === 0, limitS, 500)
  } catch {
    findings.push(
      `${limitS} s after ${count} clients came, ${left()} connections or files of theirs are open: ${way} at 1 byte/s.`,
    )
  } finally {
    clearInterval(drip)
    for (const socket of sockets) socket.destroy()
  }
  return [...findings, ...findFailures(await others.stop(), `beside slow ${way}`)]
}

/** What they send at once: a beginning, or so many requests that the responses fill the buffers of the kernel, some MB. */
function opening(way: Way, { role }: App): string {
  const path = LIGHT[role]
  if (way === 'headers') return `GET ${path} HTTP/1.1\r\nhost: localhost\r\nx-slow: `
  if (way === 'body') return `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 60000\r\n\r\n`
  // Some hundred KB each, without work for the app.
  const script = ASSETS.find((url) => url.endsWith('.js')) ?? '/'
  return `GET ${script} HTTP/1.1\r\nhost: localhost\r\n\r\n`.repeat(60)
}
