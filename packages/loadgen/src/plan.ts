import { lookup } from 'node:dns/promises'
import { METHODS, validateHeaderName, validateHeaderValue } from 'node:http'
import { BlockList, type IPVersion, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { ForeseenError } from '@startgrid/cli/arguments.ts'
import type { Random } from '@startgrid/stats/random.ts'
import { openConnection } from '@startgrid/wire/client.ts'
import { type HeaderValues, headersOf, requestBytes } from '@startgrid/wire/request.ts'
import { authority, type Target } from '@startgrid/wire/target.ts'
import type { Expectation } from './expectation.ts'

/** A load that cannot be run as asked; the message is a whole sentence for the person who asked for it. */
export class LoadError extends ForeseenError {
  override name = 'LoadError'
}

/** One load as plain data: the same in this process and in another. */
export interface LoadPlan {
  /** On this machine, or on a private network. */
  target: Target
  /** Path and query as in the request line. If there are several, one is drawn at random for each request. */
  path: string | readonly string[]
  /** Default `GET`. */
  method?: string
  /** Sent with every request; a `host` header replaces the target's. */
  headers?: HeaderValues
  /** Sent with every request, text in UTF-8; `content-length` is added. */
  body?: string | Uint8Array
  /** In closed loop, each has one request in flight all the time. In open loop, requests wait while all connections are busy. */
  connections: number
  /** A connection for each request, which asks the server to close it. */
  newConnections?: boolean
  /** Open loop: requests per second over all connections, up to 10 million, due at random times. Absent: closed loop. */
  rate?: number
  /** Seed of arrivals and drawn paths: a whole number below 2^32, default 1. */
  seed?: number
  /** Milliseconds during which counted requests are due. */
  durationMs: number
  /** Milliseconds of load before the counted part; default 0. */
  warmupMs?: number
  /**
   * Milliseconds allowed for connecting and for a response, accurate to a tenth; default 5000. In open loop it starts when the
   * request was due.
   */
  timeoutMs?: number
  expect?: Expectation
}

export interface LoadOptions extends LoadPlan {
  /** Ends the load at once; what was measured is kept. */
  signal?: AbortSignal
  /**
   * Called when all connections are open, before the first request, and when the last response is there, before they close. The load waits
   * until it resolves, so that accounts can be read in between.
   */
  onPhase?: (phase: LoadPhase) => Promise<void>
}

/** Moments at which a load waits until the accounts have been read. */
export type LoadPhase = 'open' | 'responded'

/** The requests of a load: one path or several, drawn at random. */
export class Requests {
  /** Whether they ask the server to close the connection after its response. */
  readonly close: boolean
  readonly paths: number
  readonly #random: Random
  readonly #bytes: readonly Buffer[]

  /** @throws {LoadError} if one of them cannot be sent */
  constructor(plan: Omit<LoadPlan, 'connections' | 'durationMs'>, random: Random) {
    const { target, path, method = 'GET', headers = {}, body, newConnections = false } = plan
    if (!METHODS.includes(method)) throw new LoadError(`${JSON.stringify(method)} is not an HTTP method.`)
    const own = headersOf(headers)
    try {
      for (const [name] of own) validateHeaderName(name)
      for (const header of own) validateHeaderValue(...header)
    } catch (error) {
      throw new LoadError(`${(error as Error).message}.`)
    }
    const asksToClose = own.some(([name, value]) => /^connection$/i.test(name) && /\bclose\b/i.test(value))
    this.close = newConnections || asksToClose
    if (this.close && !asksToClose) own.unshift(['connection', 'close'])
    const paths = typeof path === 'string' ? [path] : path
    this.paths = paths.length
    this.#random = random
    this.#bytes = paths.map((text) => {
      if (!/^\/[!-~]*$/.test(text))
        throw new LoadError(
          `The path ${JSON.stringify(text)} must begin with / and hold only visible ASCII characters.`,
        )
      const request = { method, target: text, headers: own, ...(body !== undefined && { body }) }
      return requestBytes(request, authority(target))
    })
  }

  /** Draws a path. @returns its place in the list */
  draw(): number {
    return this.paths === 1 ? 0 : Math.floor(this.#random() * this.paths)
  }

  /** The bytes of a request for this path. */
  bytes(path: number): Buffer {
    return this.#bytes[path] as Buffer
  }
}

/**
 * Resolves a target's name once, so that no request pays for it, and rejects public addresses: load on somebody else's server
 * is an attack. If there are several addresses (`localhost` often has two), the first that accepts a connection is used.
 * @throws {LoadError} if the name is unknown, or an address is neither of this machine nor private
 */
export async function resolveTarget(target: Target): Promise<Target> {
  if ('socketPath' in target) return target
  const found = await lookup(target.host, { all: true }).catch(() => [])
  const [first] = found
  if (first === undefined) throw new LoadError(`The name ${target.host} has no address: check its spelling.`)
  const allowed = addressesAllowed()
  const other = found.find(({ address }) => !allowed.check(address.replace(/%.*$/, ''), versionOf(address)))
  if (other !== undefined)
    throw new LoadError(
      `${other.address} is a public address: load only servers of this machine or of a private network.`,
    )
  for (const { address } of found.length > 1 ? found : []) {
    const { port } = target
    const connecting = openConnection({ host: address, port }, { timeoutMs: 5_000 })
    const connection = await connecting.catch(() => undefined)
    connection?.destroy()
    if (connection !== undefined) return { ...target, address }
  }
  return { ...target, address: first.address }
}

const PRIVATE = [
  '127.0.0.0/8 ::1/128', // loopback
  '0.0.0.0/32 ::/128', // unspecified, which connects to loopback
  '10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7', // RFC 1918 and 4193
  '169.254.0.0/16 fe80::/10', // of one link: RFC 3927 and 4291
  '100.64.0.0/10', // shared by a provider's customers: RFC 6598
]

/** What is private, and what this machine's interfaces have. */
function addressesAllowed(): BlockList {
  const allowed = new BlockList()
  for (const subnet of PRIVATE.flatMap((line) => line.split(' '))) {
    const [net = '', prefix] = subnet.split('/')
    allowed.addSubnet(net, Number(prefix), versionOf(net))
  }
  for (const { address } of Object.values(networkInterfaces()).flatMap((list) => list ?? []))
    allowed.addAddress(address.replace(/%.*$/, ''), versionOf(address))
  return allowed
}

function versionOf(address: string): IPVersion {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}
