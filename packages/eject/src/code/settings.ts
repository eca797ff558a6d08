import type { Setting } from '../project.ts'

/** How a README describes the variables that config.ts reads. */
const MEANINGS: Readonly<Record<string, Omit<Setting, 'name'>>> = {
  HOST: { default: '127.0.0.1', meaning: 'address or host name to listen on' },
  PORT: { default: '3000', meaning: 'port to listen on; 0 picks a free one' },
  LOG_LEVEL: { default: 'info', meaning: 'fatal, error, warn, info, debug, trace or silent' },
  TRUST_PROXY: {
    default: '',
    meaning:
      'whose `X-Forwarded-*` count: addresses, CIDRs, `loopback`, `linklocal`, `uniquelocal`, separated by commas',
  },
  SHUTDOWN_DELAY_MS: {
    default: '0',
    meaning: 'milliseconds between failing `/readyz` and refusing connections',
  },
  SHUTDOWN_TIMEOUT_MS: {
    default: '9000',
    meaning: 'milliseconds after which unfinished requests are cut off',
  },
  HANDLER_TIMEOUT_MS: {
    default: '20000',
    meaning: 'milliseconds after which a handler that has sent nothing is given up',
  },
  MAX_QUEUE_WAIT_MS: {
    default: '250',
    meaning: 'milliseconds that a page may wait for its turn before it is refused with 503; 0 for ever',
  },
}

/**
 * The settings that a project's config.ts reads, in the order above.
 * @throws {Error} for a setting without a description here
 */
export function listSettings(sources: ReadonlyMap<string, string>): Setting[] {
  const path = 'shared/process/config.ts'
  const found = (sources.get(path) ?? '').matchAll(/\benv\.([A-Z_]+)|\(env, '([A-Z_]+)'/g)
  const names = new Set([...found].map(([, member, argument]) => member ?? argument ?? ''))
  const unknown = [...names].find((name) => !(name in MEANINGS))
  if (unknown !== undefined) throw new Error(`${path} reads ${unknown}, of which settings.ts says nothing.`)
  return Object.entries(MEANINGS).flatMap(([name, said]) => (names.has(name) ? [{ name, ...said }] : []))
}
