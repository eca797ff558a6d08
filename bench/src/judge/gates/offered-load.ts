import { formatPercent, formatRate } from '@startgrid/cli/numbers.ts'
import type { GateResult } from '../../model/figures.ts'
import type { Trial } from '../../model/heat.ts'
import { failed, notMeant, passed, unknown } from './evidence.ts'

/** How far the rate of responses may be from the offered one. */
const WITHIN = 0.01

/** Milliseconds that one request in a hundred may be sent late. */
const LAG_P99_MS = 1

/** A stretch of open-loop load. */
export type OfferedLoad = Pick<Trial, 'offered' | 'achieved' | 'lag' | 'generatorBound'>

/**
 * What an open loop was to offer was really offered, got its responses, and was on time. `offered` is what was due by the drawn arrivals, not the
 * nominal rate, from which a Poisson process differs by chance.
 */
export function judgeOfferedLoad({ offered, achieved, lag, generatorBound }: OfferedLoad): GateResult {
  if (offered === null) return notMeant('offered-load', 'a closed loop offers as much as gets a response')
  const rates = `${formatRate(achieved)} of ${formatRate(offered)} requests per second got a response`
  if (generatorBound)
    return failed(
      'offered-load',
      `${rates}: the generator could not offer them`,
      'Offer less, or give it a core of its own.',
    )
  if (Math.abs(achieved - offered) > offered * WITHIN)
    return failed('offered-load', rates, 'Offer less: the server cannot keep up, and its queue only grows.')
  if (lag === null) return unknown('offered-load', `${rates}; how late they were sent is not known`)
  const finding = `${rates} (within ${formatPercent(WITHIN)}), 99 % were sent at most ${lag.p99.toFixed(2)} ms late`
  if (lag.p99 <= LAG_P99_MS) return passed('offered-load', finding)
  return failed('offered-load', finding, 'Close other programs, or give the generator a core of its own.')
}
