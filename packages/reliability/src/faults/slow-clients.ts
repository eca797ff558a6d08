import { until } from '@startgrid/cli/until.ts'
import { NEVER_SHED } from '@startgrid/grid/launcher.ts'
import { connect } from '@startgrid/wire/target.ts'
import { findFailures, LIGHT } from '../clients/clients.ts'
import type { Fault, Subject } from '../subject.ts'

/** What slow clients send at one byte per second, and seconds after which the last must be cut off: longer than the apps take alone (15 and 65). */
const WAYS = { headers: 45, body: 90 } as const
type Way = keyof typeof WAYS

const CLIENTS = 45

/** Clients that take or send one byte per second hold connections for hours unless they are cut off. */
export const slowClients: Fault = {
  name: 'slow-clients',
  atOnce: 7, // they wait
  async run(subject) {
    // NGINX limits only the time between two reads of a body, and Bun only the time without a byte.
    const ways: Way[] = subject.app.runtime === 'node' ? ['headers', 'body'] : ['headers']
    const findings = await Promise.all(ways.map((way) => judgeWay(subject, way)))
    return findings.flat()
  },
}

/** Clients that are slow in one way, until the app has let go of them. */
async function judgeWay(subject: Subject, way: Way): Promise<string[]> {
  const path = LIGHT[subject.app.role]
  const limitS = WAYS[way]
  const { target } = await subject.launch({ env: NEVER_SHED, timeoutMs: 120_000 }) // many apps start at once
  const others = subject.clients({ target, path, kept: 1, fresh: 1, pauseMs: 50 })
  const sockets = new Set(Array.from({ length: CLIENTS }, () => connect(target)))
  for (const socket of sockets) {
    socket.on('error', () => {}).once('close', () => sockets.delete(socket)) // being cut off
    socket.resume().write(opening(way, path))
  }
  const drip = setInterval(() => {
    for (const socket of sockets) socket.write('a')
  }, 1_000)
  const findings: string[] = []
  try {
    await until('some are left', () => sockets.size === 0, limitS, 500)
  } catch {
    findings.push(
      `${limitS} s after ${CLIENTS} clients came, ${sockets.size} of their connections are open: ${way} at 1 byte/s.`,
    )
  } finally {
    clearInterval(drip)
    for (const socket of sockets) socket.destroy()
  }
  return [...findings, ...findFailures(await others.stop(), `beside slow ${way}`)]
}

/** What they send at once: a beginning. */
function opening(way: Way, path: string): string {
  if (way === 'headers') return `GET ${path} HTTP/1.1\r\nhost: localhost\r\nx-slow: `
  return `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 60000\r\n\r\n`
}
