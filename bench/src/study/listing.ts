import { formatTime } from '../progress.ts'
import { formatRatio } from '../report/format.ts'
import { COLUMNS, indented } from '../text.ts'
import { expectedStudyMs } from './plan.ts'
import type { StudyResult } from './result.ts'
import { type Claim, publishedRatio, type Study } from './study.ts'

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
  return `${ratio}  ${indented(claim.says, ' '.repeat(9), COLUMNS).trimStart()}`
}

/** Systems, launches and time. */
export function describeStudyPlan(study: Study, result: StudyResult): string {
  const races = Map.groupBy(result.cells, ({ race }) => race)
  const lines = [...races].flatMap(([race, cells]) => [
    `  ${race}`,
    ...cells.map(({ title, cores }) => `    ${title}${cores.wanted > 1 ? ` (${cores.wanted} cores)` : ''}`),
  ])
  const time = formatTime(expectedStudyMs(study, result))
  return [
    `${study.name}: ${result.settings.heats} launches of every system, about ${time} (minutes:seconds)`,
    ...lines,
    '',
  ].join('\n')
}
