import { formatEnds, formatPercent, formatRatio } from '@startgrid/cli/numbers.ts'
import { capital, listOf, plural } from '@startgrid/cli/text.ts'
import Type, { type Static, type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { isShown } from '../judge/comparisons.ts'
import { isTested, unsteadyOf } from '../judge/findings.ts'
import { ResultError } from '../result/result-file.ts'
import { describeStall, describeStarts } from './race.ts'

/** A race of two commits as a comment on a pull request: a few lines for each path. */

/** The limit that the comment tells the power of, as a part of 1. */
const LIMIT = 0.03

const orNull = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])
const Ratio = Type.Object({
  value: Type.Number(),
  low: orNull(Type.Number()),
  high: orNull(Type.Number()),
})
const Finding = Type.Object({
  race: Type.String(),
  decides: Type.Enum(['rate', 'cpu']),
  over: Type.String(),
  under: Type.String(),
  isTwin: Type.Boolean(),
  starts: Type.Integer(),
  ratio: orNull(Ratio),
  pAdjusted: orNull(Type.Number()),
  smallest: orNull(Type.Number()),
  stall: Type.Optional(Type.Object({ system: Type.String(), seconds: Type.Number(), other: Type.Number() })),
  others: Type.Array(Type.Object({ metric: Type.String(), ratio: Ratio })),
})
const System = Type.Object({ system: Type.String(), steady: Type.Boolean() })
const Pilot = Type.Object({ race: Type.String(), systems: Type.Array(System) })

/** All that a comment reads of a result. Its file may come from a pull request of somebody else. */
const Commented = Type.Object({
  pilots: Type.Array(Pilot, { minItems: 1 }),
  heats: Type.Array(Type.Object({ race: Type.String(), seconds: Type.Number() })),
  analysis: orNull(Type.Object({ findings: Type.Array(Finding) })),
})

type Commented = Static<typeof Commented>
type Finding = Static<typeof Finding>
type Ratio = Static<typeof Ratio>

/**
 * Ends with a line feed. No text of the result becomes markup, a link or a mention.
 * @throws {ResultError} if it is not of a race of commands
 */
export function commentOf(result: unknown): string {
  const validator = Compile(Commented)
  if (!validator.Check(result)) {
    const [{ instancePath, message } = { instancePath: '', message: '' }] = validator.Errors(result)
    throw new ResultError(
      `It is not the result of a race of commands (${instancePath} ${message}): race makes one.`,
    )
  }
  const findings = result.analysis?.findings ?? []
  const lines = findings
    .filter(({ isTwin }) => !isTwin)
    .map((one) => linesOf(one, findings, result).join('  \n'))
  return `${lines.length === 0 ? 'Nothing was measured.' : lines.join('\n\n')}\n`
}

function linesOf(finding: Finding, all: readonly Finding[], result: Commented): string[] {
  const { race, decides, over, under, smallest, stall } = finding
  const twin = all.find((one) => one.race === race && one.isTwin)
  const itself =
    twin === undefined ? '' : `; ${plain(under)} against itself ${formatInterval(ratioOf(twin, decides))}`
  const seconds = result.heats.reduce((sum, heat) => sum + heat.seconds, 0)
  const starts = result.heats.filter((heat) => heat.race === race).length
  const caught = smallest === null ? null : 1 - (1 - LIMIT) / smallest
  const unsteady = unsteadyOf(finding, result.pilots)
  return [
    `**${plain(race.replace(/^GET /, ''))}**: ${verdictOf(finding, result)}${stall === undefined ? '' : ` ${capital(describeStall({ ...stall, system: plain(stall.system) }))}.`}`,
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

function verdictOf(finding: Finding, { heats }: Commented): string {
  const { decides, ratio } = finding
  if (ratio === null) return 'not measured.'
  if (!isTested(finding)) return `no verdict: only ${describeStarts(finding, heats)}.`
  if (!isShown(finding)) return 'no slowdown shown.'
  return ratio.value > 1 === (decides === 'rate') ? 'faster.' : '**slower**.'
}

function ratioOf({ decides, ratio, others }: Finding, metric: 'rate' | 'cpu'): Ratio | null {
  return metric === decides ? ratio : (others.find((one) => one.metric === metric)?.ratio ?? null)
}

function formatInterval(ratio: Ratio | null): string {
  return ratio === null ? 'unknown' : `${formatRatio(ratio.value)} (${formatEnds(ratio, formatRatio)})`
}

const LONGEST = 80

/** All but letters, digits, spaces and a few harmless signs as references: no markup, no mention, no link. */
function plain(text: string): string {
  return text.slice(0, LONGEST).replace(/[^\p{L}\p{N} /:.-]/gu, (sign) => `&#${sign.codePointAt(0)};`)
}
