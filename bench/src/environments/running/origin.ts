import { request } from 'node:http'
import { BlockList, isIPv4, isIPv6 } from 'node:net'
import { UsageError } from '@startgrid/cli/arguments.ts'

/** The address of a server that already runs: an origin, as `http://10.0.0.9:3000`. */

export interface Address {
  host: string
  port: number
}

const EXAMPLE = 'such as http://127.0.0.1:3000'

/**
 * Reads what was given to `--target`.
 * @returns the origin without a slash at its end
 * @throws {UsageError} saying what is possible
 */
export function readOrigin(text: string): string {
  const url = URL.parse(text)
  const given = `--target is '${text}', but`
  if (url?.protocol === 'https:')
    throw new UsageError(
      `${given} the generator speaks HTTP/1.1 without TLS: give the http:// address of the app itself, behind whatever ends TLS.`,
    )
  if (url?.protocol !== 'http:') throw new UsageError(`${given} must be an http:// address, ${EXAMPLE}.`)
  if (url.username !== '' || url.password !== '')
    throw new UsageError(`--target has a name or a password in it, which reports would show: leave them out.`)
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '')
    throw new UsageError(
      `${given} must have no path, for the role says which are asked: give ${url.origin} and --role.`,
    )
  return url.origin
}

/** Where an origin listens. */
export function addressOf(origin: string): Address {
  const { hostname, port } = new URL(origin)
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? 80 : Number(port) }
}

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

/** Whether the server is on this machine. What its other addresses are called is not looked up. */
export function isLoopback(origin: string): boolean {
  const { host } = addressOf(origin)
  if (isIPv4(host)) return LOOPBACK.check(host, 'ipv4')
  return isIPv6(host) ? LOOPBACK.check(host, 'ipv6') : host === 'localhost' || host.endsWith('.localhost')
}

/** Milliseconds that a server may take to respond at all. */
const PATIENCE_MS = 5000

/**
 * Asks for anything, to learn whether somebody is there.
 * @throws {UsageError} if nobody responds in HTTP within 5 s
 */
export async function assertResponding(origin: string): Promise<void> {
  const reason = await whySilent(origin)
  if (reason === null) return
  throw new UsageError(
    `${origin} does not respond (${reason}): start the app there, or give --target the address that it listens on.`,
  )
}

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
