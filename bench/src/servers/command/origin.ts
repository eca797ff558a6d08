import { lookup } from 'node:dns/promises'
import { BlockList } from 'node:net'
import { networkInterfaces } from 'node:os'
import { readTarget } from '@startgrid/loadgen/request.ts'
import { type Asked, ask } from '@startgrid/servers/request.ts'
import { type Failure, NoResponse } from '@startgrid/wire/reader.ts'
import type { Target } from '@startgrid/wire/target.ts'

/** The address of a server that already runs: an origin, as `http://10.0.0.9:3000`, or `unix:/run/app.sock`. */

/** Whether all addresses of a target are this machine's. */
export async function isHere(target: Target): Promise<boolean> {
  if ('socketPath' in target) return true
  const own = new BlockList()
  own.addSubnet('127.0.0.0', 8, 'ipv4')
  own.addAddress('::1', 'ipv6')
  // They connect to loopback.
  own.addAddress('0.0.0.0', 'ipv4')
  own.addAddress('::', 'ipv6')
  for (const { address, family } of Object.values(networkInterfaces()).flatMap((list) => list ?? []))
    own.addAddress(address, family === 'IPv6' ? 'ipv6' : 'ipv4')
  const found = await lookup(target.host, { all: true })
  return found.every(({ address, family }) => own.check(address, family === 6 ? 'ipv6' : 'ipv4'))
}

/** Milliseconds that a server may take to respond at all. */
const PATIENCE_MS = 5000

/**
 * @param asked what is raced: a server may leave all else without a response
 * @param patienceMs milliseconds until somebody must have responded, with any status
 * @returns why nobody did, a clause; null if somebody did, and after an abort
 */
export async function whySilent(
  origin: string,
  asked: Asked,
  { signal, patienceMs = PATIENCE_MS }: { signal?: AbortSignal; patienceMs?: number } = {},
): Promise<string | null> {
  try {
    await ask(readTarget(origin), asked, patienceMs, signal)
    return null
  } catch (error) {
    if (!(error instanceof NoResponse)) throw error
    return error.part === undefined ? REASONS[error.failure] : null
  }
}

const REASONS: Readonly<Record<Failure, string | null>> = {
  aborted: null,
  refused: 'nobody listens there',
  timeout: 'nothing came in time',
  malformed: 'what it says is not HTTP/1.1',
  closed: 'it closed the connection',
  reset: 'it reset the connection',
}
