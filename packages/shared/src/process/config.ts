import { isIP } from 'node:net'
import proxyaddr from 'proxy-addr'

/** The settings of the app, from its environment. */
export interface Config {
  /** TCP address. */
  host: string
  /** 0: the system picks one. */
  port: number
  logLevel: string
  /** Whether this address is a proxy whose X-Forwarded-* count; `false`: there is none. Some frameworks take it as it is. */
  trustProxy: false | ((address: string | undefined, hop: number) => boolean)
  /** Milliseconds between failing readiness and refusing connections: one period of the load balancer's health checks. */
  shutdownDelayMs: number
  /** Milliseconds after which unfinished requests are abandoned, and the process exits with 1. */
  shutdownTimeoutMs: number
  /** Milliseconds for which a handler may send nothing. After that: 503, or a cut connection. It is below NGINX's 30 s. */
  handlerTimeoutMs: number
  /** Milliseconds that a page may wait for its turn before it is refused with 503; 0: no limit. */
  maxQueueWaitMs: number
}

/** Why an app cannot start. The message is a whole sentence for the person who started it. */
export class StartError extends Error {
  override name = 'StartError'
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']

/**
 * Reads the settings. Each is listed below with its variable, its default and its limits.
 * @throws {StartError} naming the variable, its value and what is allowed
 */
export function readConfig(env: Env): Config {
  return {
    host: readHost(env),
    port: readInteger(env, 'PORT', 3000, 65_535),
    logLevel: readChoice(env, 'LOG_LEVEL', 'info', LOG_LEVELS),
    trustProxy: readTrustProxy(env),
    shutdownDelayMs: readInteger(env, 'SHUTDOWN_DELAY_MS', 0, 600_000),
    shutdownTimeoutMs: readInteger(env, 'SHUTDOWN_TIMEOUT_MS', 9_000, 600_000),
    handlerTimeoutMs: readInteger(env, 'HANDLER_TIMEOUT_MS', 20_000, 600_000, 100),
    maxQueueWaitMs: readInteger(env, 'MAX_QUEUE_WAIT_MS', 250, 60_000),
  }
}

export type Env = Readonly<Record<string, string | undefined>>

/** @throws {StartError} one sentence */
export function refuse(name: string, value: string, allowed: string): never {
  throw new StartError(`${name} is ${JSON.stringify(value)}, but must be ${allowed}.`)
}

function readHost(env: Env): string {
  const value = env.HOST ?? '127.0.0.1'
  if (isIP(value) === 0 && !/^(?=.{1,253}$)[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(value)) {
    refuse('HOST', value, 'an IP address or a host name, such as 127.0.0.1 or 0.0.0.0')
  }
  return value
}

export function readInteger(env: Env, name: string, fallback: number, max: number, min = 0): number {
  const value = env[name] ?? String(fallback)
  const number = /^\d{1,6}$/.test(value) ? Number(value) : Number.NaN
  if (!(number >= min && number <= max)) refuse(name, value, `a whole number from ${min} to ${max}`)
  return number
}

export function readChoice<Choice extends string>(
  env: Env,
  name: string,
  fallback: Choice,
  choices: readonly Choice[],
): Choice {
  const value = env[name] ?? fallback
  const found = choices.find((choice) => choice === value)
  return found ?? refuse(name, value, `one of ${choices.join(', ')}`)
}

const PROXY_NAMES = new Set(['loopback', 'linklocal', 'uniquelocal'])

/** Addresses and CIDRs of trusted proxies, or names of such (https://www.npmjs.com/package/proxy-addr), separated by commas. */
function readTrustProxy(env: Env): Config['trustProxy'] {
  const value = env.TRUST_PROXY ?? ''
  if (value === '') return false
  const parts = value.split(',').map((part) => part.trim())
  // proxy-addr would take the 1 that other software reads as a number of hops for the address 0.0.0.1.
  const areKnown = parts.every((part) => PROXY_NAMES.has(part) || isIP(part.replace(/\/\d+$/, '')) !== 0)
  try {
    if (areKnown) return proxyaddr.compile(parts) as Config['trustProxy']
  } catch {
    // A prefix that is too long.
  }
  refuse(
    'TRUST_PROXY',
    value,
    `empty, or ${[...PROXY_NAMES].join(', ')}, addresses or CIDRs (10.0.0.0/8) separated by commas`,
  )
}
