import { parseSync, Visitor } from 'oxc-parser'
import type { Setting } from '../project.ts'
import { SourceError } from './module.ts'

/** How a README describes the variables that config.ts reads. */
const MEANINGS: Readonly<Record<string, Omit<Setting, 'name'>>> = {
  HOST: { default: '127.0.0.1', meaning: 'address or host name to listen on' },
  PORT: { default: '3000', meaning: 'port to listen on; 0 picks a free one' },
  SOCKET: { default: '', meaning: 'path of a unix socket to listen on instead' },
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
  CLUSTER: {
    default: 'single',
    meaning:
      'several processes: `cluster` (the primary hands out connections) or `reuse-port` (the kernel does)',
  },
  WORKERS: { default: 'auto', meaning: 'how many processes, with CLUSTER; `auto` is one per core' },
}

/**
 * The settings that a project's config.ts reads, in the order above.
 * @throws {SourceError} for a setting without a description here
 */
export function listSettings(sources: ReadonlyMap<string, string>): Setting[] {
  const names = new Set<string>()
  const path = 'shared/process/config.ts'
  new Visitor({
    MemberExpression({ object, property, computed }) {
      if (
        !computed &&
        object.type === 'Identifier' &&
        object.name === 'env' &&
        property.type === 'Identifier'
      )
        names.add(property.name)
    },
    CallExpression({ arguments: [env, name] }) {
      if (env?.type === 'Identifier' && env.name === 'env' && name?.type === 'Literal')
        names.add(String(name.value))
    },
  }).visit(parseSync(path, sources.get(path) ?? '').program)
  const listed = [...names].sort((one, other) => order(one) - order(other))
  return listed.map((name) => {
    const said = MEANINGS[name]
    if (said === undefined) throw new SourceError(`${path} reads ${name}, of which settings.ts says nothing.`)
    return { name, ...said }
  })
}

function order(name: string): number {
  return Object.keys(MEANINGS).indexOf(name)
}
