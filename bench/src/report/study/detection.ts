import { formatDistance, formatEnds, formatPercent, formatTimestamp } from '@startgrid/cli/numbers.ts'
import { left, right, tableOf } from '@startgrid/cli/table.ts'
import { capital, listOf, plural } from '@startgrid/cli/text.ts'
import { proportion } from '@startgrid/stats/proportion.ts'
import {
  type Better,
  betterThan,
  type RuleScore,
  scoreDetections,
  type ToolScore,
} from '../../judge/study/detection.ts'
import type { Study } from '../../model/experiment.ts'
import type { StudyResult } from '../../model/result.ts'
import type { DotChart, Section } from '../document.ts'

/** How well tools that compare servers found what was planted. */

/** In the order of the study: its own tool is the first. */
function scoresOf({ systems, detection }: Study, { analysis }: StudyResult): ToolScore[] {
  const [races, tools] = [detection?.races ?? [], Object.keys(systems)]
  return scoreDetections(analysis?.detections ?? [])
    .filter(({ results }) => results.length > 1)
    .toSorted(
      (one, other) =>
        races.indexOf(one.race) - races.indexOf(other.race) ||
        tools.indexOf(one.system) - tools.indexOf(other.system),
    )
}

/** Sentences without their full stop: in how many cases another tool was better than the first, what each finds, and the cases. */
export function detectionSentences(study: Study, record: StudyResult): string[] {
  const scores = scoresOf(study, record)
  const [first] = scores
  if (first === undefined) return []
  const better = betterThan(first.system, scores)
  const seconds = Math.round(Math.max(...scores.map((one) => one.seconds)))
  const found = [...Map.groupBy(scores, ({ race }) => race)].map(([race, own]) => {
    const parts = own
      .toSorted((one, other) => one.ideal.value - other.ideal.value)
      .map((one) => `${titleOf(study, one)} ${formatDistance(one.ideal.value)}`)
    return `${capital(race)}, in ${seconds} s, the spread of its estimates lets a tool find in 4 of 5 comparisons a slowdown of: ${listOf(parts)}`
  })
  const cases = better.map((one) => `Better than ${titleOf(study, first)}: ${describeBetter(study, one)}`)
  const count = better.length === 0 ? 'no case' : plural(better.length, 'case')
  return [`Another tool was better than ${titleOf(study, first)} in ${count}`, ...found, ...cases]
}

function titleOf({ systems }: Study, { system }: Pick<ToolScore, 'system'>): string {
  return systems[system]?.title ?? system
}

function describeBetter(study: Study, { other, own, rule, ...where }: Better): string {
  const name = `${where.race}, ${titleOf(study, where)}`
  if (typeof other === 'number' || typeof own === 'number') {
    const [theirs, ours] = [other, own].map((found) =>
      typeof found === 'number' && Number.isFinite(found) ? formatDistance(found) : 'no verdict',
    )
    return `${name}${rule === null ? '' : ` (${rule})`}: ${theirs} instead of ${ours} in 4 of 5`
  }
  return `${name} (${rule}): ${formatDistance(other.truth)} in ${countOf(other)} instead of ${countOf(own)}`
}

function countOf({ shown, of }: RuleScore['levels'][number]): string {
  return `${shown} of ${of}`
}

/** @returns undefined if nothing was planted */
export function detectionChart(study: Study, record: StudyResult): DotChart | undefined {
  const scores = scoresOf(study, record)
  if (scores.length === 0) return undefined
  return {
    kind: 'dots',
    title: 'The slowdown that a tool can find in 4 of 5 comparisons',
    caption:
      'By the spread of its estimates, with 95 % intervals: what a test would find that knows this spread. The tables say what each tool makes of them.',
    panels: [...Map.groupBy(scores, ({ race }) => race)].map(([race, own]) => ({
      title: race,
      dots: own.map(({ system, ideal: { value, low, high } }) => ({
        ...{ name: system, value: value - 1, low: low && low - 1, high: high && high - 1 },
        leads: system === scores[0]?.system,
      })),
    })),
    columns: 2,
    axis: { label: 'more CPU per request', scale: 'linear', format: formatPercent },
  }
}

export function detectionSections(study: Study, record: StudyResult): Section[] {
  const races = [...Map.groupBy(scoresOf(study, record), ({ race }) => race)]
  return [
    ...races.map(([race, own]) => foundSection(study, race, own)),
    ...races.map(([race, own]) => errorSection(study, race, own)),
    ...(races.length === 0 ? [] : [originSection(record)]),
  ]
}

/** How often each rule showed a difference. */
function foundSection(study: Study, race: string, scores: readonly ToolScore[]): Section {
  const rows = scores.flatMap((score) => score.rules.map((rule) => ({ score, rule })))
  const truths = rows[0]?.rule.levels.map(({ truth }) => truth) ?? []
  type Row = (typeof rows)[number]
  return {
    title: `${capital(race)}: how often a difference is shown, by how much slower the second server is`,
    table: tableOf<Row>(rows, [
      left('tool', 0, ({ score }) => titleOf(study, score)),
      left('says so by', 0, ({ rule }) => rule.rule),
      ...truths.map((truth, index) =>
        right<Row>(formatDistance(truth), 1, ({ rule: { levels } }) => {
          const level = levels[index]
          return level === undefined ? '' : countOf(level)
        }),
      ),
      right('wrong', 0, ({ rule: { wrong, of } }) => (of === 0 ? 'no verdict' : partOf(wrong, of))),
      right('4 of 5', 0, ({ rule: { finds } }) => (finds === null ? '' : formatDistance(finds))),
    ]),
    notes: [
      'Wrong: the estimate, divided by the truth, would have shown a difference between equal servers (all planted differences together, with the exact 95 % interval of Clopper and Pearson). 4 of 5: the slowdown that is shown so often, by the same estimates.',
      ...scores.flatMap(({ failures, ...score }) =>
        failures.length === 0
          ? []
          : [`${titleOf(study, score)} failed ${failures.length} times: ${failures[0]}.`],
      ),
    ],
  }
}

/** `1 of 8 (0–53 %)` */
function partOf(count: number, of: number): string {
  const { low, high } = proportion(count, of)
  const [from, to] = [low, high].map((part) => Math.round((part ?? 0) * 100))
  return `${count} of ${of} (${from}–${to} %)`
}

/** How far the estimates are from the truth. */
function errorSection(study: Study, race: string, scores: readonly ToolScore[]): Section {
  return {
    title: `${capital(race)}: how far estimates are from the truth`,
    table: tableOf<ToolScore>(scores, [
      left('tool', 0, (score) => titleOf(study, score)),
      right('comparisons', 0, ({ results }) => String(results.length)),
      right('s each', 1, ({ seconds }) => seconds.toFixed(1)),
      right('mean error', 0, ({ bias }) => signedPercent(bias.value)),
      right('95 %', 1, ({ bias }) => formatEnds(bias, signedPercent)),
      right('spread', 0, ({ spread }) => formatPercent(spread.value)),
      right('95 %', 1, ({ spread }) => formatEnds(spread, formatPercent)),
      right('could find', 0, ({ ideal }) => formatDistance(ideal.value)),
      right('95 %', 1, ({ ideal }) => formatEnds(ideal, formatDistance)),
      right('min for 5 %', 0, ({ minutes }) => minutes.toFixed(minutes < 10 ? 1 : 0)),
    ]),
    notes: [
      'Could find: in 4 of 5 comparisons, by a test that knows this spread and shows a difference of equal servers in 5 %. Min for 5 %: minutes for a slowdown of 5 %, if the spread falls with the square root of the time; that of a tool with one start of each server does not fall as fast.',
    ],
  }
}

function signedPercent(ratio: number): string {
  return `${ratio < 1 ? '−' : '+'}${formatDistance(ratio)}`
}

function originSection({ analysis }: StudyResult): Section {
  const runs = Map.groupBy(analysis?.detections ?? [], ({ startgrid }) => startgrid)
  const notes = [...runs].map(([commit, own]) => {
    const times = own.map(({ startedAt }) => startedAt).toSorted()
    return `${plural(own.length, 'comparison')} at ${commit}, ${formatTimestamp(times[0] ?? '')} to ${formatTimestamp(times.at(-1) ?? '')}.`
  })
  return { title: 'When servers were compared', notes, place: 'folded' }
}
