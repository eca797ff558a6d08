import { oneLine } from '@startgrid/cli/text.ts'
import type { Target } from '@startgrid/grid/launcher.ts'
import { newCell } from '../experiment/cells.ts'
import type { LastingGenerator } from '../load/generator.ts'
import type { Experiment } from '../model/experiment.ts'
import type { Warning } from '../model/warnings.ts'
import { type Environment, startServers } from './environment.ts'

/** What the generator can ask for at most: NGINX's `return 200` costs next to nothing. */

interface CeilingOptions {
  generator: LastingGenerator
  connections: number
  signal: AbortSignal
}

/** An NGINX with no app behind it, which responds to this path itself. Not named `ceiling`: a study has a system of that name. */
const NAME = 'ceiling of the generator'
const CELL = newCell({ id: NAME, race: NAME, app: NAME, workload: 'GET /ceiling' })

/** Every environment starts it as it starts the systems that are raced. */
export function withCeiling(experiment: Experiment): Experiment {
  const ceiling = { title: 'NGINX alone', nginx: { front: 'nginx' } } as const
  return { ...experiment, systems: { ...experiment.systems, [CELL.system]: ceiling } }
}

const MEASURED_MS = 600
const WARMUP_MS = 1000

/** @returns responses per second; null without an NGINX, after an abort, or if it could not be measured, which `warn` is told */
export async function measureCeiling(
  environment: Pick<Environment, 'start' | 'hasCeiling'>,
  options: CeilingOptions,
  warn: (warning: Warning) => void,
): Promise<number | null> {
  if (options.signal.aborted || !environment.hasCeiling) return null
  const servers = await startServers(environment, [CELL], options)
  if (servers === undefined) return null
  try {
    const server = servers.running.get(CELL.id)
    if (server === undefined) throw new Error(servers.failures.get(CELL.id))
    return await offerCeiling(server.target, options)
  } catch (error) {
    if (!options.signal.aborted) warn({ kind: 'ceiling-unknown', reason: oneLine(error) })
    return null
  } finally {
    await servers.stop()
  }
}

async function offerCeiling(
  target: Target,
  { generator, connections, signal }: CeilingOptions,
): Promise<number | null> {
  const plan = { target, path: '/ceiling', connections, durationMs: MEASURED_MS, signal }
  // Until the generator's own code is compiled.
  await generator.run({ ...plan, durationMs: WARMUP_MS })
  if (signal.aborted) return null
  const { rate, errors } = await generator.run(plan)
  const failed = Object.values(errors).reduce((sum, count) => sum + count, 0)
  if (failed > 0 && !signal.aborted) throw new Error(`${failed} requests failed`)
  return signal.aborted ? null : rate
}
