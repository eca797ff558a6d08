import { formatMinutes, formatRate } from '@startgrid/cli/numbers.ts'
import { COLUMNS, indented, listOf, plural, wrap } from '@startgrid/cli/text.ts'
import { plannedMs } from '../experiment/study.ts'
import { baseOf } from '../measure/common-rate.ts'
import { describeReach } from '../report/provenance.ts'
import type { Cell } from '../result/cell.ts'
import { type Experiment, isProbe, isStudy } from '../result/experiment.ts'
import type { Result } from '../result/result.ts'

/** What a run would do, and how long it takes: `--dry-run`. */
export function describePlan(name: string, experiment: Experiment, result: Result): string {
  const { cells, settings } = result
  const races = [...Map.groupBy(cells, ({ race }) => race)]
  const reach = isStudy(experiment) ? null : describeReach(result)
  return [
    wrap(
      `${name}: ${plural(settings.heats, 'start')} of every system, about ${formatMinutes(plannedMs(experiment, result))} (minutes:seconds) on two cores, if nobody disturbs it.`,
    ),
    wrap('The first run on new code also proves the contract of every app: up to half a minute more.'),
    ...(reach === null ? [] : [wrap(reach)]),
    ...races.flatMap(([race, own]) => [
      indented(`${race}: ${[...new Set(own.map(nameOf))].join('; ')}`, '  ', COLUMNS),
      ...latencyLines(experiment, race, own),
    ]),
    '',
  ].join('\n')
}

function nameOf({ title, cores }: Cell): string {
  return cores.wanted > 1 ? `${title} (${cores.wanted} cores)` : title
}

/** Whose latency is measured, and at which rate. */
function latencyLines(experiment: Experiment, race: string, cells: readonly Cell[]): string[] {
  const own = experiment.races[race]
  const base = baseOf(experiment, race)
  const titlesOf = (some: readonly Cell[]) => listOf(new Set(some.map(({ title }) => title)))
  const asked = titlesOf(cells.filter(({ openLoop }) => openLoop))
  const slowest = titlesOf(cells.filter(({ system }) => base.includes(system)))
  if (asked === '' || own === undefined || isProbe(own)) return []
  const rate =
    own.openRate === undefined
      ? `half of what the slowest of ${slowest === asked ? 'these' : slowest} can do`
      : `${formatRate(own.openRate)} requests per second`
  return [indented(`latency of ${asked} in open loop, at ${rate}`, '    ', COLUMNS)]
}
