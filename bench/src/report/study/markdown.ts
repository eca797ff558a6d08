import { formatRatio, formatRatioInterval, formatTimestamp } from '@startgrid/cli/numbers.ts'
import { markdownTable, type Table } from '@startgrid/cli/table.ts'
import type { Study } from '../../model/experiment.ts'
import type { ClaimResult, StudyCell, StudyRecord } from '../../model/study-result.ts'
import { describeVersions, missingCores } from './section.ts'
import { conditions, sectionsOf } from './terminal.ts'

/** A study in Markdown: the block of figures in its page, and its part of the table of all claims. */

/** Claims and verdicts, all figures, and what they rest on. Ends with a line feed. */
export function formatStudyBlock(study: Study, record: StudyRecord): string {
  const claims = record.analysis?.claims ?? []
  const versions = describeVersions(study, record)
  const reasons = claims.flatMap(({ because, undecided, closedLoop, verdict }, index) => {
    const text = [
      verdict === 'not reproduced here' && versions !== null ? `With other versions: ${versions}.` : null,
      undecided === null ? null : `undecided here, because ${undecided}.`,
      closedLoop === null ? null : `In closed loop the ratio is ${formatRatioInterval(closedLoop)}.`,
      because,
    ]
    const known = text.filter((one) => one !== null)
    return known.length === 0 ? [] : [`${index + 1}. ${known.join(' ')}`]
  })
  const blocks = [
    `${record.profile === 'quick' ? 'A quick run' : 'A full run'} of ${formatTimestamp(record.startedAt)}.`,
    markdownTable(claimTable(claims, record.cells), 0),
    ...reasons,
    ...sectionsOf(study, record).flatMap(({ title, table, notes }) => [
      `**${title}**`,
      markdownTable(table, 3),
      ...notes,
    ]),
    ...conditions(study, record),
  ]
  return `${blocks.join('\n\n')}\n`
}

function claimTable(claims: readonly ClaimResult[], cells: readonly StudyCell[]): Table {
  return {
    columns: [
      { heading: '#', align: 'right', priority: 0 },
      { heading: 'claim', align: 'left', priority: 0 },
      { heading: 'published', align: 'right', priority: 0 },
      { heading: 'ours (95 %)', align: 'right', priority: 0 },
      { heading: 'verdict', align: 'left', priority: 0 },
    ],
    rows: claims.map((claim, index) => ({
      tone: 'plain',
      cells: [String(index + 1), ...claimCells(claim, cells)],
    })),
  }
}

/** The claim, its published ratio, ours, and the verdict. A machine with too few cores has neither. */
export function claimCells(claim: ClaimResult, cells: readonly StudyCell[]): string[] {
  const { says, published, ratio, verdict } = claim
  const cores = missingCores(claim, cells)
  if (cores !== null) return [says, formatRatio(published), '—', `needs ${cores} cores`]
  return [says, formatRatio(published), ratio === null ? '—' : formatRatioInterval(ratio), verdict]
}
