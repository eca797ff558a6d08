import { formatMinutes } from '@startgrid/cli/duration.ts'
import { formatRatio } from '@startgrid/cli/numbers.ts'
import { COLUMNS, indented, listOf } from '@startgrid/cli/text.ts'
import { plannedStudyMs } from '../experiment/study.ts'
import { baseOf } from '../measure/openloop/common-rate.ts'
import type { Cell } from '../model/cell.ts'
import { type Claim, closedLoopOf, publishedRatio, type Study } from '../model/experiment.ts'
import type { StudyResult } from '../model/result.ts'

/** What studies there are and what they would do, for a person. */

/** Every study with its claims and published ratios. */
export function describeStudies(studies: readonly Study[]): string {
  return studies
    .map(({ name, title, claims }) =>
      [`${name}: ${title}`, ...claims.map((claim) => lineOf(claim)), ''].join('\n'),
    )
    .join('\n')
}

function lineOf(claim: Claim): string {
  const ratio = formatRatio(publishedRatio(claim)).padStart(7)
  const how = closedLoopOf(claim.metric) === undefined ? '' : ' (open loop)'
  return `${ratio}  ${indented(`${claim.says}${how}`, ' '.repeat(9), COLUMNS).trimStart()}`
}

/** Systems, launches and time. */
export function describeStudyPlan(study: Study, result: StudyResult): string {
  const races = Map.groupBy(result.cells, ({ race }) => race)
  const lines = [...races].flatMap(([race, cells]) => [
    `  ${race}`,
    ...cells.map(({ title, cores }) => `    ${title}${cores.wanted > 1 ? ` (${cores.wanted} cores)` : ''}`),
    ...latencyLines(study, race, cells),
  ])
  const time = formatMinutes(plannedStudyMs(study, result))
  return [
    `${study.name}: ${result.settings.heats} launches of every system, about ${time} (minutes:seconds)`,
    ...lines,
    '',
  ].join('\n')
}

/** Whose latency is measured, and at which rate. */
function latencyLines(study: Study, race: string, cells: readonly Cell[]): string[] {
  const asked = cells.filter(({ openLoop }) => openLoop).map(({ title }) => title)
  if (asked.length === 0) return []
  const base = baseOf(study, race)
  const slowest = cells.filter(({ app }) => base.includes(app)).map(({ title }) => title)
  const whose = slowest.length === asked.length ? 'these' : listOf(slowest)
  const text = `latency of ${listOf(asked)} in open loop, at half of what the slowest of ${whose} can do`
  return [indented(text, '    ', COLUMNS)]
}
