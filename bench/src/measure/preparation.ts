import { formatPercent } from '@startgrid/cli/numbers.ts'
import type { Progress } from '@startgrid/cli/progress.ts'
import { oneLine } from '@startgrid/cli/text.ts'
import { startTeam } from '@startgrid/loadgen/team.ts'
import { inspectMachine, watchSteal } from '@startgrid/machine/machine.ts'
import { ENDING_MS } from '../experiment/time.ts'
import { analyse } from '../judge/analysis.ts'
import { deriveWarnings } from '../judge/derive-warnings.ts'
import type { Experiment } from '../result/experiment.ts'
import type { Result, Warning } from '../result/result.ts'
import type { Opened, OpenOptions, Start } from '../servers/servers.ts'
import type { Generator } from './load.ts'

/** What every measurement does before and after: the machine, NGINX, the generator, warnings, saving. */

export interface RunContext {
  progress: Progress
  /** Called with the result so far after every heat: an interruption loses the one in flight at most. */
  save(result: Result): void
  /** An abort stops all servers; what was measured is in the result. */
  signal: AbortSignal
}

/** What a measurement works with. */
export interface PreparedRun extends RunContext {
  result: Result
  experiment: Experiment
  start: Start
  generator: Generator
  warn(warning: Warning): void
  /** `performance.now()` when the last heat has to be over. */
  endsAt: number
  /** Makes the figures again and saves. A full disk must not end the run. */
  store(): void
}

interface Preparation extends RunContext {
  experiment: Experiment
  open(options: OpenOptions): Promise<Opened>
}

/** What a person can do something about while it runs; all warnings stand at the end of the report. */
const AT_ONCE: ReadonlySet<Warning['kind']> = new Set(['busy', 'tools', 'not-saved', 'race'])

/**
 * Prepares, lets `measure` fill the result in place, and clears up: generator stopped, result saved, finished unless it was aborted.
 * @throws {LoadError} with a sentence if no load can be offered
 */
export async function withPreparedRun(
  result: Result,
  preparation: Preparation,
  measure: (prepared: PreparedRun) => Promise<void>,
): Promise<void> {
  const { experiment, progress, signal, save } = preparation
  const seen: Warning[] = []
  const warn = (warning: Warning): void => {
    if (seen.some(({ text }) => text === warning.text)) return
    seen.push(warning)
    if (AT_ONCE.has(warning.kind)) progress.say(warning.text)
  }
  const store = (): void => {
    result.analysis = analyse(experiment, result)
    result.warnings = [...seen, ...deriveWarnings(result)]
    try {
      save(result)
    } catch (error) {
      const text = `The result could not be saved: ${oneLine(error)}. Until that is mended an interruption loses what was measured.`
      warn({ kind: 'not-saved', text })
      result.warnings = [...seen, ...deriveWarnings(result)]
    }
  }
  const opened = await preparation.open({ ...preparation, warn }).catch((error) => {
    if (signal.aborted) return undefined
    throw error
  })
  if (opened === undefined) return store()
  const { nginx, cores, start } = opened
  result.nginx = nginx
  result.settings.cores = cores
  const generator = await startTeam(cores?.generators ?? [cores?.generator])
  const endsAt = Number.POSITIVE_INFINITY
  const prepared = { ...preparation, result, start, generator, warn, store, endsAt }
  try {
    const steal = watchSteal()
    const beganAt = performance.now()
    for (const warning of await inspectMachine(signal)) warn(warning)
    const { maxTimeMs } = result.settings
    if (maxTimeMs !== null) prepared.endsAt = beganAt + maxTimeMs - ENDING_MS
    await measure(prepared)
    result.stolen = steal((performance.now() - beganAt) / 1000) ?? 0
    if (result.stolen > STOLEN)
      warn({
        kind: 'host',
        text: `The host took ${formatPercent(result.stolen)} of this virtual machine's CPU while it measured: rates are too low.`,
      })
    result.finishedAt = signal.aborted ? null : (result.finishedAt ?? new Date().toISOString())
  } finally {
    await generator.stop()
    store()
  }
}

/** Part of all CPU time from which on a reader is told. */
const STOLEN = 0.01
