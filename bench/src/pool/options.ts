import { availableParallelism } from 'node:os'
import { parseOptions, readInteger, UsageError } from '@startgrid/cli/arguments.ts'
import { POOL_LIBRARIES } from '@startgrid/worker-pool/config.ts'
import type { Pace, PoolSettings } from './settings.ts'

/** What `pnpm bench pool` is asked to do. */
interface PoolOptions {
  settings: PoolSettings
  launches: number
  /** Also written here; `-` is standard output. */
  json: string | undefined
  help: boolean
}

export const POOL_HELP = `pnpm bench pool [options]         messages per second through a pool of workers
pnpm bench pool pages [options]   pages in process against pages in a pool

Workers do nothing but reply, so this is what the way to a worker and back
costs. Without --block so many messages are kept in flight that no worker waits;
with it they come in blocks, as in qoper8-cp's own benchmark, with a pause
between them that adjusts itself to keep a steady queue.

  --library NAME         ${POOL_LIBRARIES.join(' (processes) or ')} (threads);
                         default qoper8-cp
  --runtime NAME         node or bun (default node)
  --size N               workers, 1 to 64, or auto: one per core (default auto)
  --messages N           counted ones, 1000 to 10000000 (default 100000)
  --in-flight N          waiting or being handled, 1 to 100000 (default 16 per
                         worker and message that it may have)
  --block N              messages per block, 1 to 100000
  --delay MS             first pause between blocks, 0 to 10000 (default 100)
  --tasks-per-worker N   piscina sends a worker so many at once, 1 to 1000
                         (default 1)
  --launches N           fresh starts, 1 to 100 (default 4); the interval is
                         over their rates
  --json FILE            writes the figures there, - for standard output
  --help
`

/** In flight per worker: some wait for each that is handled, as long as the main thread is busy with others. */
const DEPTH = 16

/** @throws {UsageError} saying what is allowed */
export function readPoolOptions(args: readonly string[]): PoolOptions {
  const values = parseOptions(
    args,
    {
      library: { type: 'string', default: 'qoper8-cp' },
      runtime: { type: 'string', default: 'node' },
      size: { type: 'string', default: 'auto' },
      messages: { type: 'string', default: '100000' },
      'in-flight': { type: 'string' },
      block: { type: 'string' },
      delay: { type: 'string' },
      'tasks-per-worker': { type: 'string', default: '1' },
      launches: { type: 'string', default: '4' },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
    'pnpm bench pool',
  )
  const library = readName('--library', values.library, POOL_LIBRARIES)
  const size = values.size === 'auto' ? availableParallelism() : readInteger('--size', values.size, 1, 64)
  const tasksPerWorker = readInteger('--tasks-per-worker', values['tasks-per-worker'], 1, 1000)
  if (library === 'qoper8-cp' && tasksPerWorker > 1)
    throw new UsageError('--tasks-per-worker is for piscina: qoper8-cp sends a worker one message at a time.')
  return {
    settings: {
      library,
      runtime: readName('--runtime', values.runtime, ['node', 'bun']),
      size,
      messages: readInteger('--messages', values.messages, 1000, 10_000_000),
      pace: readPace(values, size * tasksPerWorker),
      tasksPerWorker,
    },
    launches: readInteger('--launches', values.launches, 1, 100),
    json: values.json,
    help: values.help,
  }
}

interface PaceWords {
  'in-flight'?: string | undefined
  block?: string | undefined
  delay?: string | undefined
}

/** @param capacity messages that workers have at a time */
function readPace({ 'in-flight': inFlight, block, delay }: PaceWords, capacity: number): Pace {
  if (block === undefined) {
    if (delay !== undefined) throw new UsageError('--delay is the pause between blocks: give --block too.')
    const count = inFlight === undefined ? DEPTH * capacity : readInteger('--in-flight', inFlight, 1, 100_000)
    return { kind: 'in-flight', count }
  }
  if (inFlight !== undefined) throw new UsageError('--in-flight and --block exclude each other: choose one.')
  return {
    kind: 'blocks',
    length: readInteger('--block', block, 1, 100_000),
    delayMs: readInteger('--delay', delay ?? '100', 0, 10_000),
  }
}

/** @throws {UsageError} listing the names */
export function readName<Name extends string>(option: string, value: string, names: readonly Name[]): Name {
  const found = names.find((name) => name === value)
  if (found !== undefined) return found
  throw new UsageError(`${option} is '${value}', but must be ${names.join(' or ')}.`)
}
