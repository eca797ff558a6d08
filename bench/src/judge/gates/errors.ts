import { listOf } from '@startgrid/cli/text.ts'
import type { GateResult } from '../../model/figures.ts'
import { type Evidence, failed, passed, unknown } from './evidence.ts'

/**
 * No request failed, and nothing else went wrong: a server that drops work is faster. The warm-up counts as well, for an app that
 * says it is ready is; and so do disturbed slices, for a neighbour makes responses late, not wrong. Responses with a wrong body have a gate of
 * their own.
 */
export function judgeErrors({ launches, failures }: Pick<Evidence, 'launches' | 'failures'>): GateResult {
  const [failure] = failures
  if (failure !== undefined) return failed('errors', failure, 'Start the app alone and read what it logs.')
  const slices = launches.flat()
  if (slices.length === 0) return unknown('errors', 'nothing was measured')
  const counts = new Map<string, number>()
  for (const { errors } of slices) {
    for (const [kind, count] of Object.entries(errors))
      if (kind !== 'body' && count > 0) counts.set(kind, (counts.get(kind) ?? 0) + count)
  }
  const responses = slices.reduce((sum, { requests }) => sum + requests, 0)
  if (responses === 0 && counts.size === 0)
    return failed('errors', 'no request got a response', 'Measure for longer, with --slice.')
  if (counts.size === 0) return passed('errors', `none of ${formatCount(responses)} requests failed`)
  return failed('errors', describe(counts, responses), adviceFor(counts))
}

function describe(counts: ReadonlyMap<string, number>, responses: number): string {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
  const kinds = [...counts].map(([kind, count]) => `${formatCount(count)} ${kind}`)
  return `${formatCount(total)} requests failed beside ${formatCount(responses)} responses: ${listOf(kinds)}`
}

function adviceFor(counts: ReadonlyMap<string, number>): string {
  if (counts.has('timeout')) return 'Offer fewer --connections, or find out what the app waits for.'
  if (counts.has('connect'))
    return 'Offer fewer --connections, and look at the limits of open files (ulimit -n).'
  return 'Read what the app and NGINX log, and correct it.'
}

function formatCount(count: number): string {
  return count.toLocaleString('en-US')
}
