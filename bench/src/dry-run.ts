import { expectedHeatMs, planHeats } from './plan.ts'
import { PROFILES } from './profile.ts'
import { formatTime } from './progress.ts'
import type { CellSpec, Result } from './results.ts'
import { plural, wrap } from './text.ts'

/** What the ceiling and the search for NGINX take, in milliseconds. */
const PREPARATION_MS = 3000

/** What a race would do, and how long it takes: `--dry-run`. */
export function describePlan({ cells, settings, seed }: Result): string {
  const { profile, heats, slices, sliceMs, until, maxTimeMs } = settings
  const byRole = Map.groupBy(cells, ({ role }) => role)
  const ms = (own: readonly CellSpec[]) => heats * expectedHeatMs(own, settings)
  const roles = [...byRole].map(
    ([role, own]) =>
      `  ${role.padEnd(7)} ${plural(own.length, 'cell')} of ${plural(new Set(own.map(({ app }) => app)).size, 'launch').replace('launchs', 'launches')}, ` +
      `${plural(heats, 'heat')} of ${formatTime(ms(own) / heats)}, ${formatTime(ms(own))}`,
  )
  const total = [...byRole.values()].reduce((sum, own) => sum + ms(own), PREPARATION_MS)
  const order = planHeats([...byRole.keys()], heats, seed).map(({ role }) => role)
  const ends = until === null ? '' : ` More heats follow until 95 % intervals are within ±${until * 100} %.`
  const limit =
    maxTimeMs === null ? '' : ` The last heats are dropped when ${formatTime(maxTimeMs)} are over.`
  return [
    `${plural(cells.length, 'cell')}, ${slices} × ${sliceMs} ms per cell and heat, profile ${profile}:`,
    ...roles,
    '',
    wrap(`Heats in this order (seed ${seed}): ${order.join(', ')}.`),
    wrap(`About ${formatTime(total)} (minutes:seconds) on two cores, if nobody disturbs it.${ends}${limit}`),
    wrap('The first run on new code also proves the contract of every cell: up to half a minute more.'),
    ...(profile === 'custom' ? [] : [wrap(PROFILES[profile].shows)]),
    '',
  ].join('\n')
}
