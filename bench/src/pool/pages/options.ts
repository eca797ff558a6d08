import { availableParallelism } from 'node:os'
import { parseOptions, readDuration, readInteger } from '@startgrid/cli/arguments.ts'
import { POOL_LIBRARIES } from '@startgrid/worker-pool/config.ts'
import { readName } from '../options.ts'
import type { PageSettings } from './measure.ts'

/** What `pnpm bench pool pages` is asked to do. */
interface PageOptions {
  settings: PageSettings
  launches: number
  /** Also written here; `-` is standard output. */
  json: string | undefined
  help: boolean
}

export const PAGES_HELP = `pnpm bench pool pages [options]   pages in process against pages in a pool

Renders large pages in an app's own process, then in its workers: how many at
most, and what a small request beside them waits at half of what one process
can.

  --framework NAME    fastify, express or bun (default fastify)
  --library NAME      ${POOL_LIBRARIES.join(' or ')}; default piscina
  --size N            workers, 1 to 64, or auto: one per core (default auto)
  --items N           on the page, 0 to 1000 (default 1000)
  --duration T        of each of a launch's six loads, 200ms to 10m (default 2s)
  --launches N        fresh starts of each, 1 to 100 (default 3)
  --seed N            repeats the times of requests
  --json FILE         writes the figures there, - for standard output
  --help
`

/** @throws {UsageError} saying what is allowed */
export function readPageOptions(args: readonly string[]): PageOptions {
  const values = parseOptions(
    args,
    {
      framework: { type: 'string', default: 'fastify' },
      library: { type: 'string', default: 'piscina' },
      size: { type: 'string', default: 'auto' },
      items: { type: 'string', default: '1000' },
      duration: { type: 'string', default: '2s' },
      launches: { type: 'string', default: '3' },
      seed: { type: 'string', default: '1' },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
    'pnpm bench pool pages',
  )
  return {
    settings: {
      framework: readName('--framework', values.framework, ['fastify', 'express', 'bun']),
      library: readName('--library', values.library, POOL_LIBRARIES),
      size: values.size === 'auto' ? availableParallelism() : readInteger('--size', values.size, 1, 64),
      items: readInteger('--items', values.items, 0, 1000),
      ms: readDuration('--duration', values.duration, 200),
      seed: readInteger('--seed', values.seed, 0, 2 ** 32 - 2),
    },
    launches: readInteger('--launches', values.launches, 1, 100),
    json: values.json,
    help: values.help,
  }
}
