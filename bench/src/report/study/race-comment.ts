import { formatEnds, formatPercent, formatRatio } from '@startgrid/cli/numbers.ts'
import { listOf, plural } from '@startgrid/cli/text.ts'
import type { Interval } from '@startgrid/stats/estimate.ts'
import { isShown } from '../../judge/analysis/race.ts'
import { isTested, unsteadyOf } from '../../judge/study/findings.ts'
import type { Finding } from '../../model/figures.ts'
import type { StudyResult } from '../../model/result.ts'
import { describeStarts } from './race-document.ts'

/** A race of two commits as a comment on a pull request: a few lines for each path. */

/** The limit that the comment tells the power of, as a part of 1. */
const LIMIT = 0.03

/** Ends with a line feed. No text of the result becomes markup, a link or a mention. */
export function commentOf(result: StudyResult): string {
  const findings = result.analysis?.findings ?? []
  const lines = findings
    .filter(({ isTwin }) => !isTwin)
    .map((one) => linesOf(one, findings, result).join('  \n'))
  return `${lines.length === 0 ? 'Nothing was measured.' : lines.join('\n\n')}\n`
}

function linesOf(finding: Finding, all: readonly Finding[], result: StudyResult): string[] {
  const { race, decides, over, under, smallest } = finding
  const twin = all.find((one) => one.race === race && one.isTwin)
  const itself =
    twin === undefined ? '' : `; ${plain(under)} against itself ${formatInterval(ratioOf(twin, decides))}`
  const seconds = result.heats.reduce((sum, heat) => sum + heat.seconds, 0)
  const starts = result.heats.filter((heat) => heat.race === race).length
  const caught = smallest === null ? null : 1 - (1 - LIMIT) / smallest
  const unsteady = unsteadyOf(finding, result.race?.pilots ?? [])
  return [
    `**${plain(race.replace(/^GET /, ''))}**: ${verdictOf(finding, result)}`,
    `${plain(over)} over ${plain(under)} ${formatInterval(ratioOf(finding, 'rate'))} by requests at saturation, ${formatInterval(ratioOf(finding, 'cpu'))} by CPU per request; ${decides === 'rate' ? 'the former' : 'the latter'} decides.`,
    `${plural(starts, 'start')} each, ${plural(Math.max(1, Math.round(seconds / 60)), 'minute')}${itself}.`,
    ...(unsteady.length === 0 ? [] : [`${listOf(unsteady.map(plain))} may have been cold.`]),
    ...(caught === null
      ? []
      : [
          `A limit of ${formatPercent(LIMIT)} would have caught a slowdown of ${formatPercent(caught)} in 4 of 5 runs.`,
        ]),
  ]
}

function verdictOf(finding: Finding, { heats }: StudyResult): string {
  const { decides, ratio } = finding
  if (ratio === null) return 'not measured.'
  if (!isTested(finding)) return `no verdict: only ${describeStarts(finding, heats)}.`
  if (!isShown(finding)) return 'no slowdown shown.'
  return ratio.value > 1 === (decides === 'rate') ? 'faster.' : '**slower**.'
}

function ratioOf({ decides, ratio, others }: Finding, metric: 'rate' | 'cpu'): Interval | null {
  return metric === decides ? ratio : (others.find((one) => one.metric === metric)?.ratio ?? null)
}

function formatInterval(ratio: Interval | null): string {
  return ratio === null ? 'unknown' : `${formatRatio(ratio.value)} (${formatEnds(ratio, formatRatio)})`
}

const LONGEST = 80

/** All but letters, digits, spaces and a few harmless signs as references: no markup, no mention, no link. */
function plain(text: string): string {
  return text.slice(0, LONGEST).replace(/[^\p{L}\p{N} /:.-]/gu, (sign) => `&#${sign.codePointAt(0)};`)
}
