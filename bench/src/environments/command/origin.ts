import { lookup } from 'node:dns/promises'
import { request } from 'node:http'
import { BlockList } from 'node:net'
import { networkInterfaces } from 'node:os'

/** The address of a server that already runs: an origin, as `http://10.0.0.9:3000`. */

export interface Address {
  host: string
  port: number
}

/** Where an origin listens. */
export function addressOf(origin: string): Address {
  const { hostname, port } = new URL(origin)
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? 80 : Number(port) }
}

/** Whether all addresses of a host are this machine's. */
export async function isHere(host: string): Promise<boolean> {
  const own = new BlockList()
  own.addSubnet('127.0.0.0', 8, 'ipv4')
  own.addAddress('::1', 'ipv6')
  // They connect to loopback.
  own.addAddress('0.0.0.0', 'ipv4')
  own.addAddress('::', 'ipv6')
  for (const { address, family } of Object.values(networkInterfaces()).flatMap((list) => list ?? []))
    own.addAddress(address, family === 'IPv6' ? 'ipv6' : 'ipv4')
  const found = await lookup(host, { all: true })
  return found.every(({ address, family }) => own.check(address, family === 6 ? 'ipv6' : 'ipv4'))
}

/** Milliseconds that a server may take to respond at all. */
const PATIENCE_MS = 5000

/**
 * @param patienceMs milliseconds until somebody must have responded, with any status
 * @returns why nobody did, a clause; null if somebody did, and after an abort
 */
export function whySilent(
  origin: string,
  { signal, patienceMs = PATIENCE_MS }: { signal?: AbortSignal; patienceMs?: number } = {},
): Promise<string | null> {
  const late = AbortSignal.timeout(patienceMs)
  const ends = signal === undefined ? late : AbortSignal.any([signal, late])
  return new Promise((resolve) => {
    request({ ...addressOf(origin), path: '/livez', agent: false, signal: ends }, (response) => {
      response.on('error', () => {}).destroy()
      resolve(null)
    })
      .once('error', (error) => resolve(signal?.aborted ? null : describe(error)))
      .end()
  })
}

function describe(error: NodeJS.ErrnoException): string {
  if (error.name === 'AbortError' || error.name === 'TimeoutError') return 'nothing came in time'
  if (error.code?.startsWith('HPE_')) return 'what it says is not HTTP/1.1'
  return error.code ?? error.message
}
