import { formatMicros, formatPercent, formatRate, formatRateEnds, orUnknown } from '@startgrid/cli/numbers.ts'
import { layOut, left, right, type Table, tableOf } from '@startgrid/cli/table.ts'
import { COLUMNS, plural, wrap } from '@startgrid/cli/text.ts'
import type { Interval } from '@startgrid/stats/estimate.ts'
import { DISTURBED, describeDisturbance } from './disturbance.ts'
import type { PoolResult, PoolSettings } from './settings.ts'

/** What several launches of one pool came to. */
export interface PoolFigures {
  settings: PoolSettings
  launches: PoolResult[]
  /** Messages per second. */
  rate: Interval
}

/** A thread that is this busy has no time for more messages. */
const LIMITED = 0.9

/** Sentences and a table for a terminal. @param cores that the pool could use */
export function formatPoolFigures({ settings, launches, rate }: PoolFigures, cores: number): string {
  const table = layOut([launchTable(launches)], COLUMNS)[0]
  const ends = formatRateEnds(rate)
  const interval = rate.low === null ? 'one launch, so without an interval' : `95 %: ${ends}`
  return [
    wrap(headline(settings, launches)),
    '',
    `  ${table?.head}`,
    ...(table?.rows ?? []).map(({ text }) => `  ${text}`),
    '',
    wrap(`${formatRate(rate.value)} messages per second (${interval}).`),
    ...limits(settings, launches, cores).map((sentence) => wrap(sentence)),
    '',
  ].join('\n')
}

function headline(
  { library, runtime, size, messages, pace, tasksPerWorker }: PoolSettings,
  launches: readonly PoolResult[],
): string {
  const name = runtime === 'bun' ? 'Bun' : 'Node'
  const how =
    pace.kind === 'blocks'
      ? `in blocks of ${pace.length.toLocaleString('en-US')}, first ${pace.delayMs} ms apart`
      : `${pace.count.toLocaleString('en-US')} in flight`
  const at = tasksPerWorker > 1 ? `, ${tasksPerWorker} at a time per worker` : ''
  return (
    `${library} on ${name} ${launches[0]?.version ?? ''} with ${plural(size, 'worker')}: ` +
    `${messages.toLocaleString('en-US')} messages, ${how}${at}.`
  )
}

function launchTable(launches: readonly PoolResult[]): Table {
  return tableOf(
    [...launches.entries()],
    [
      right('launch', 0, ([index]) => String(index + 1)),
      right('messages/s', 0, ([, { rate }]) => formatRate(rate)),
      right('seconds', 2, ([, { seconds }]) => seconds.toFixed(2)),
      right('CPU µs', 0, ([, { cpuPerMessage }]) => orUnknown(cpuPerMessage, formatMicros)),
      right('main', 0, ([, { mainBusy }]) => formatPercent(mainBusy)),
      right('others', 1, ([, { foreign }]) => (foreign === null ? '' : formatPercent(foreign))),
      right('queue', 0, ([, { longestQueue }]) => longestQueue.toLocaleString('en-US')),
      right('delay', 0, ([, { delayMs }]) => (delayMs === null ? '' : `${delayMs} ms`)),
      left('messages per worker', 0, ([, { perWorker }]) => describeShares(perWorker)),
    ],
  )
}

/** Up to four workers one by one, more as the busiest and the idlest. */
function describeShares(perWorker: readonly number[]): string {
  const texts = perWorker.map((count) => count.toLocaleString('en-US'))
  return texts.length <= 4 ? texts.join(' ') : `${texts[0]} to ${texts.at(-1)}`
}

/** Why it is not faster, as far as that was seen. */
function limits({ size }: PoolSettings, launches: readonly PoolResult[], cores: number): string[] {
  const sentences: string[] = []
  if (launches.every(({ mainBusy }) => mainBusy >= LIMITED))
    sentences.push(
      'The main thread, which hands out the messages, was busy all the time: more workers would not help.',
    )
  if (size + 1 > cores)
    sentences.push(`${plural(size, 'worker')} and the main thread share ${plural(cores, 'core')} here.`)
  const foreign = Math.max(...launches.map((launch) => launch.foreign ?? 0))
  if (foreign > DISTURBED) sentences.push(describeDisturbance(foreign))
  return sentences
}
