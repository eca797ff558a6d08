import { BlockList, isIP } from 'node:net'

/** What an app is told by its environment. */
export interface Config {
  /** TCP address; unused when `socket` is set. */
  host: string
  /** 0 lets the system pick one. */
  port: number
  /** Path of a unix socket to listen on instead. */
  socket: string | undefined
  logLevel: string
  /** Whether the peer at this address may speak for the client. A peer on a unix socket has no address. */
  trustProxy: (peer: string | undefined) => boolean
  /** Milliseconds between failing readiness and refusing connections: one probe period of the load balancer. */
  shutdownDelayMs: number
  /** Milliseconds after which unfinished requests are abandoned and the process exits 1. */
  shutdownTimeoutMs: number
}

/** Why an app cannot start; the message is a whole sentence for the person who started it. */
export class StartError extends Error {
  override name = 'StartError'
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']

/** Longest path that fits `sockaddr_un.sun_path` with its NUL, on Linux (108) and macOS (104). */
const SOCKET_PATH_BYTES = process.platform === 'linux' ? 107 : 103

/** Reads HOST, PORT, SOCKET, LOG_LEVEL, TRUST_PROXY, SHUTDOWN_DELAY_MS and SHUTDOWN_TIMEOUT_MS.
 * @throws {StartError} naming the variable, its value and what is allowed */
export function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  return {
    host: readHost(env),
    port: readInteger(env, 'PORT', 3000, 65_535),
    socket: readSocket(env),
    logLevel: readChoice(env, 'LOG_LEVEL', 'info', LOG_LEVELS),
    trustProxy: readTrustProxy(env),
    shutdownDelayMs: readInteger(env, 'SHUTDOWN_DELAY_MS', 0, 600_000),
    shutdownTimeoutMs: readInteger(env, 'SHUTDOWN_TIMEOUT_MS', 9_000, 600_000),
  }
}

type Env = Readonly<Record<string, string | undefined>>

function refuse(name: string, value: string, allowed: string): never {
  throw new StartError(`${name} is ${JSON.stringify(value)}, but must be ${allowed}.`)
}

function readHost(env: Env): string {
  const value = env.HOST ?? '127.0.0.1'
  if (isIP(value) === 0 && !/^(?=.{1,253}$)[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(value)) {
    refuse('HOST', value, 'an IP address or a host name, such as 127.0.0.1 or 0.0.0.0')
  }
  return value
}

function readInteger(env: Env, name: string, fallback: number, max: number): number {
  const value = env[name] ?? String(fallback)
  const number = /^\d{1,6}$/.test(value) ? Number(value) : Number.NaN
  if (!(number <= max)) refuse(name, value, `a whole number from 0 to ${max}`)
  return number
}

function readSocket(env: Env): string | undefined {
  const value = env.SOCKET
  if (value === undefined) return undefined
  if (value === '' || Buffer.byteLength(value) > SOCKET_PATH_BYTES) {
    refuse('SOCKET', value, `the path of a unix socket, 1 to ${SOCKET_PATH_BYTES} bytes long`)
  }
  return value
}

function readChoice(env: Env, name: string, fallback: string, choices: readonly string[]): string {
  const value = env[name] ?? fallback
  if (!choices.includes(value)) refuse(name, value, `one of ${choices.join(', ')}`)
  return value
}

/** Addresses and CIDRs of the proxies in front, or `loopback`, separated by commas; empty or absent trusts nobody. */
function readTrustProxy(env: Env): Config['trustProxy'] {
  const value = env.TRUST_PROXY ?? ''
  if (value === '') return () => false
  const trusted = new BlockList()
  for (const part of value.split(',').map((text) => text.trim())) addTrusted(trusted, part, value)
  return (peer) => {
    // Whoever can open the unix socket was let in by its file permissions.
    if (peer === undefined) return env.SOCKET !== undefined
    const family = isIP(peer)
    return family !== 0 && trusted.check(peer, family === 6 ? 'ipv6' : 'ipv4')
  }
}

function addTrusted(list: BlockList, part: string, value: string): void {
  if (part === 'loopback') {
    list.addSubnet('127.0.0.0', 8)
    list.addAddress('::1', 'ipv6')
    return
  }
  const [address = '', prefix, ...rest] = part.split('/')
  const family = isIP(address)
  const bits = family === 6 ? 128 : 32
  const length = prefix === undefined ? bits : /^\d{1,3}$/.test(prefix) ? Number(prefix) : Number.NaN
  if (family === 0 || rest.length > 0 || !(length <= bits)) {
    refuse('TRUST_PROXY', value, "empty, or 'loopback', addresses or CIDRs (10.0.0.0/8) separated by commas")
  }
  list.addSubnet(address, length, family === 6 ? 'ipv6' : 'ipv4')
}
