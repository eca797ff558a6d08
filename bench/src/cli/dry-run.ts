import { formatMinutes } from '@startgrid/cli/duration.ts'
import { plural, wrap } from '@startgrid/cli/text.ts'
import { passesWithin } from '../experiment/budget.ts'
import { expectedHeatMs, planHeats } from '../experiment/cells.ts'
import type { Cell } from '../model/cell.ts'
import type { Result } from '../model/result.ts'
import { describeReach } from '../report/provenance.ts'

/** What the ceiling and the search for NGINX take, in milliseconds. */
const PREPARATION_MS = 3000

/** What a race would do, and how long it takes: `--dry-run`. */
export function describePlan(result: Result): string {
  const { mode, cells, settings } = result
  const { precision, maxTimeMs } = settings
  const byRole = Map.groupBy(cells, ({ race }) => race)
  const total = [...byRole.values()].reduce((sum, own) => sum + roleMs(own, result), PREPARATION_MS)
  const ends =
    precision === null ? '' : ` More heats follow until 95 % intervals are within ±${precision * 100} %.`
  const passes = maxTimeMs === null ? settings.slices : passesWithin(maxTimeMs, result, settings.heats)
  const fewer =
    passes < settings.slices
      ? ` All passes would take ${formatMinutes(total)}: about ${passes} of ${settings.slices} fit, --max-time gives more.`
      : ''
  const limit =
    maxTimeMs === null
      ? ''
      : `${fewer} A slower machine takes fewer passes, then fewer heats, to end within ${formatMinutes(maxTimeMs)}.`
  const cores = mode === 'target' || mode === 'kubernetes' ? '' : ' on two cores, if nobody disturbs it'
  const reach = settings.profile === 'custom' ? null : describeReach(result)
  return [
    ...(mode === 'target' ? [describeTarget(result)] : describeRoles(result, byRole)),
    wrap(
      `About ${formatMinutes(Math.min(total, maxTimeMs ?? total))} (minutes:seconds)${cores}.${ends}${limit}`,
    ),
    wrap(
      mode === 'target'
        ? 'The contract is proven first, each time: some seconds more.'
        : 'The first run on new code also proves the contract of every cell: up to half a minute more.',
    ),
    ...(reach === null ? [] : [wrap(reach)]),
    '',
  ].join('\n')
}

function describeTarget({ target, cells, settings }: Result): string {
  const { profile, heats, slices, sliceMs, pauseMs } = settings
  return wrap(
    `${cells[0]?.workload} at ${target?.origin}: ${plural(heats, 'heat')} of ${slices} × ${sliceMs} ms, ${pauseMs / 1000} s apart, ` +
      `profile ${profile}.`,
  )
}

function describeRoles(result: Result, byRole: ReadonlyMap<string, readonly Cell[]>): string[] {
  const { cells, settings, seed } = result
  const { profile, heats, slices, sliceMs } = settings
  const roles = [...byRole].map(([role, own]) => {
    const launches = plural(new Set(own.map(({ app }) => app)).size, 'launch').replace('launchs', 'launches')
    const ms = roleMs(own, result)
    return (
      `  ${role.padEnd(7)} ${plural(own.length, 'cell')} of ${launches}, ` +
      `${plural(heats, 'heat')} of ${formatMinutes(ms / heats)}, ${formatMinutes(ms)}`
    )
  })
  const order = planHeats([...byRole.keys()], heats, seed).map(({ race }) => race)
  return [
    `${plural(cells.length, 'cell')}, ${slices} × ${sliceMs} ms per cell and heat, profile ${profile}:`,
    ...roles,
    '',
    wrap(`Heats in this order (seed ${seed}): ${order.join(', ')}.`),
  ]
}

function roleMs(cells: readonly Cell[], { mode, settings }: Result): number {
  return settings.heats * (settings.pauseMs + expectedHeatMs(cells, settings, mode))
}
