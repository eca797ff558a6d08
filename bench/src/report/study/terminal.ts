import { formatRate, formatRatio, formatRatioInterval, formatTimestamp } from '@startgrid/cli/numbers.ts'
import { type Format, painter } from '@startgrid/cli/paint.ts'
import { capital, indented, listOf, plural, wrap } from '@startgrid/cli/text.ts'
import type { Study } from '../../model/experiment.ts'
import { describeServers } from '../../model/names.ts'
import type { ClaimResult, StudyRecord, Verdict } from '../../model/study-result.ts'
import { describeMachine, describeNginx, describeSource } from '../provenance.ts'
import { formatSections, formatWarnings, type TerminalStyle } from '../terminal.ts'
import { latencySections } from './latency-table.ts'
import { describeVersions, missingCores, type StudySection } from './section.ts'
import { publishedSection, raceSections, scalingSections, stepSection } from './tables.ts'

/** A study on a terminal: claims and verdicts first, then what they rest on. Ends with a line feed. */
export function formatStudy(study: Study, result: StudyRecord, style: TerminalStyle): string {
  const paint = painter(style.color)
  const say = (text: string, indent = '') => wrap(text, indent, style.columns)
  const blocks = [
    paint('bold', say(headline(study, result))),
    say(study.question),
    formatWarnings(result.warnings, style),
    claimsOf(study, result, style),
    ...formatSections(sectionsOf(study, result), style),
    paint(
      'dim',
      conditions(study, result)
        .map((sentence) => say(sentence))
        .join('\n'),
    ),
  ]
  return `${blocks.filter((block) => block !== '').join('\n\n')}\n`
}

export function sectionsOf(study: Study, result: StudyRecord): StudySection[] {
  const [steps, published] = [stepSection(result), publishedSection(study, result)]
  return [
    ...raceSections(study, result),
    ...latencySections(result),
    ...(steps === null ? [] : [steps]),
    ...scalingSections(result),
    ...(published === null ? [] : [published]),
  ]
}

function headline({ name, title }: Study, { profile, startedAt, finishedAt }: StudyRecord): string {
  const unfinished = finishedAt === null ? ' INTERRUPTED: not everything that was planned was measured.' : ''
  return `${name}: ${title}. ${profile === 'quick' ? 'Quick run' : 'Run'} of ${formatTimestamp(startedAt)}.${unfinished}`
}

const TONES: Readonly<Record<Verdict, Format | null>> = {
  holds: 'green',
  'direction holds, size differs': 'cyan',
  'direction holds, size undecided': 'cyan',
  'not reproduced here': 'red',
  'undecided here': 'yellow',
}

function claimsOf(study: Study, record: StudyRecord, { color, columns }: TerminalStyle): string {
  const { analysis, cells } = record
  const paint = painter(color)
  const versions = describeVersions(study, record)
  const whyOther = (verdict: Verdict) =>
    verdict === 'not reproduced here' && versions !== null ? ` (${versions})` : ''
  return (analysis?.claims ?? [])
    .map((claim, index) => {
      const number = `${index + 1}. `
      const below = (text: string) => indented(text, ' '.repeat(number.length), columns)
      const lines = [
        `${number}${below(`${claim.says}.`).trimStart()}`,
        paint(
          TONES[claim.verdict],
          below(describeVerdict(claim, missingCores(claim, cells)) + whyOther(claim.verdict)),
        ),
        ...(claim.because === null ? [] : [below(claim.because)]),
      ]
      return lines.join('\n')
    })
    .join('\n')
}

/** `published 4.08, ours 1.62 (1.55–1.70): direction holds, size differs`. @param cores that this machine lacks for it */
function describeVerdict(
  { published, ratio, closedLoop, verdict, undecided }: ClaimResult,
  cores: number | null,
): string {
  if (cores !== null) return `published ${formatRatio(published)}: needs ${cores} cores (${undecided})`
  const closed = closedLoop === null ? '' : `, in closed loop ${formatRatioInterval(closedLoop)}`
  const ours = `${ratio === null ? '' : `, ours ${formatRatioInterval(ratio)}`}${closed}`
  const why = undecided === null ? '' : ` (${undecided})`
  return `published ${formatRatio(published)}${ours}: ${verdict}${why}`
}

/** How the latencies came about; nothing where none were asked for. */
function openLoopOf({ analysis, settings: { openLoop } }: StudyRecord): string[] {
  if (analysis === null || analysis.openRates.length === 0) return []
  const rates = analysis.openRates.map(({ race, rate }) => `${race} ${formatRate(rate)}`)
  return [
    `Latencies are those of open loops of ${openLoop.minMs} to ${openLoop.maxMs} ms after the slices of each heat, from when a request was due, at half of ` +
      `what the slowest system that a claim about latency names, or else of all asked, could do in the first heat: ${listOf(rates)} requests per second.`,
  ]
}

/** What the figures rest on. */
export function conditions({ source }: Study, result: StudyRecord): string[] {
  const { settings, command } = result
  const { cluster = null } = result
  const run = { ...result, cluster }
  const { cores } = settings
  const where =
    cluster !== null
      ? `${capital(describeServers(run))}: a system may use ${plural(cluster.nodes[0]?.cpus.length ?? 0, 'core')}.`
      : cores === null
        ? 'Nothing was pinned to a core.'
        : `Servers on ${plural(cores.servers.length, 'core')} (${cores.servers.join(', ')}), a system of one core on core ${cores.servers[0]}; generator on core ${cores.generator}.`
  return [
    ...(source === undefined
      ? []
      : [`The source: ${source.title}, on ${source.machine}, with ${source.tool}.`]),
    `${plural(settings.heats, 'heat')} of each race, ${plural(settings.slices, 'slice')} of ${settings.sliceMs} ms at least per system and heat. ${where}`,
    ...openLoopOf(result),
    `${describeMachine(run)}; ${describeNginx(run)}.`,
    `${describeSource(result)}. Repeat it: ${command}`,
  ]
}
