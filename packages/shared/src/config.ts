import { existsSync } from 'node:fs'
import proxyaddr from 'proxy-addr'
import { z } from 'zod'

// Not by node --env-file-if-exists=.env: with --watch and without that file, Node 26.10 crashes at Ctrl-C.
if (existsSync('.env')) process.loadEnvFile()
// React's development build takes five times as long for a page. This is imported before React, and only `npm run dev` has that condition.
if (!process.execArgv.includes('--conditions=development')) process.env.NODE_ENV ??= 'production'

/** The settings, by the names of their environment variables. Add your own here. */
export const Settings = z.object({
  /** `::` is every address, of IPv4 as well. Where the kernel has no IPv6, it is 0.0.0.0. */
  HOST: z
    .string()
    .default('127.0.0.1')
    .transform((host) => (host === '::' && lacksIPv6() ? '0.0.0.0' : host)),
  /** 0: the system picks one. */
  PORT: integer(0, 65_535).default(3000),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  /** Proxies whose X-Forwarded-* count: addresses, CIDRs, or the names of https://www.npmjs.com/package/proxy-addr. Empty: none. */
  TRUST_PROXY: z.string().default('').transform(compileProxies),
  /** Longer than the idle timeout of the proxy or load balancer, which would otherwise use a connection that is just closing. */
  KEEP_ALIVE_TIMEOUT_MS: integer(0, 3_600_000).default(65_000),
  /** Between failing readiness and refusing connections: one period of the load balancer's health checks. */
  SHUTDOWN_DELAY_MS: integer(0, 600_000).default(0),
  /** Unfinished requests are abandoned then, and the process exits with 1. */
  SHUTDOWN_TIMEOUT_MS: integer(0, 600_000).default(9_000),
  /** For so long a response may stand still before it becomes a 503 or is cut. Less than the proxy's timeout. */
  HANDLER_TIMEOUT_MS: integer(100, 600_000).default(20_000),
  /** For so long an expensive request may wait for its turn before it is refused with 503. 0: none waits. */
  MAX_QUEUE_WAIT_MS: integer(0, 600_000).default(250),
})

export type Config = z.infer<typeof Settings>

/**
 * Reads settings from the environment. An empty variable counts as one that is not set. If one is not valid, it ends the process with a line
 * for each. A route with settings of its own can read them by a schema of its own: `readConfig(z.object({ API_KEY: z.string() }))`.
 */
export function readConfig<Output>(
  settings: z.ZodType<Output>,
  env: NodeJS.ProcessEnv = process.env,
): Output {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value?.trim() !== ''))
  const { success, data, error } = settings.safeParse(given)
  if (success) return data
  for (const { path, message } of error.issues) console.error(`${path.join('.')} is not valid: ${message}.`)
  process.exit(1)
}

function integer(min: number, max: number) {
  return z.coerce.number().int().min(min).max(max)
}

function lacksIPv6(): boolean {
  return process.platform === 'linux' && !existsSync('/proc/net/if_inet6')
}

/** @returns whether an address is trusted, as Express and Fastify take it; false: there is no proxy */
function compileProxies(list: string, { addIssue }: z.RefinementCtx) {
  if (list === '') return false
  const proxies = list.split(/ *, */)
  try {
    // proxy-addr would take the 1 that other software reads as a number of hops for the address 0.0.0.1.
    if (proxies.some((proxy) => /^\d+$/.test(proxy))) throw new Error('a number of hops')
    return proxyaddr.compile(proxies) as (address: string | undefined, hop: number) => boolean
  } catch {
    addIssue('must be addresses, CIDRs (10.0.0.0/8), loopback, linklocal or uniquelocal, separated by commas')
    return false
  }
}
