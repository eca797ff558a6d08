import { listOf } from '@startgrid/cli/text.ts'
import type { Trial } from '../model/heat.ts'
import { METRIC_NAMES } from '../model/names.ts'
import { type RaceResult, type Run, type StoredResult, type StudyResult, trialsOf } from '../model/result.ts'
import { isDerived, type Warning } from '../model/warnings.ts'
import { keptSlices } from './analysis/passes.ts'
import { widthsOf } from './analysis.ts'
import { isCrowded } from './trial.ts'

/** What a result itself tells its reader to beware of: pure, so that a report can be made again. */
export function deriveWarnings(result: StoredResult): Warning[] {
  const seen = [
    ...excluded(result),
    ...crowded(result),
    ...disturbed(trialsOf(result)),
    ...(isAllElsewhere(result) ? [] : accounting(result)),
  ]
  if (result.kind === 'study') return [...external(result), ...sharedCores(result), ...seen]
  return [...suspects(result), ...seen, ...withoutIntervals(result)]
}

/** What was seen while it ran: these are kept when what follows from the figures is made again. */
export function observedWarnings({ warnings }: Pick<Run, 'warnings'>): Warning[] {
  return warnings.filter(({ kind }) => !isDerived(kind))
}

/** What no figure of servers that already ran can tell. */
function external({ race, cells, heats }: StudyResult): Warning[] {
  const running = (race?.systems ?? []).flatMap(({ name, url }) => (url === null ? [] : name))
  if (running.length === 0) return []
  const slices = heats.flatMap((heat) => heat.slices)
  const unaccounted = running.filter((name) => {
    const own = new Set(cells.flatMap(({ id, app }) => (app === name ? id : [])))
    return slices.every(({ cell, cpuSeconds }) => !own.has(cell) || cpuSeconds.app === null)
  })
  return [
    ...(unaccounted.length === 0 ? [] : [{ kind: 'external-server', systems: listOf(unaccounted) } as const]),
    { kind: 'one-launch', systems: listOf(running) },
  ]
}

/** Of commands. */
function sharedCores({ race, heats, settings }: StudyResult): Warning[] {
  const { server, servers = [server] } = settings.cores ?? { server: 0, servers: undefined }
  if (settings.cores === null) return []
  const launches = heats.flatMap((heat) => heat.launches)
  return (race?.systems ?? []).flatMap(({ name }): Warning[] => {
    const own = launches.filter(({ app }) => app === name)
    const processes = Math.max(0, ...own.map((one) => one.processes ?? 0))
    if (processes <= servers.length) return []
    return [{ kind: 'shared-core', system: name, processes, cores: servers.length }]
  })
}

/** A difference was found where none exists. */
function suspects({ analysis }: RaceResult): Warning[] {
  return (analysis?.races ?? []).flatMap(({ control, metric }): Warning[] => {
    if (control === null || !control.suspect || control.p === null) return []
    const { twin, ratio, p } = control
    return [{ kind: 'suspect', twin, metric: METRIC_NAMES[metric], difference: ratio.value - 1, p }]
  })
}

function excluded({ heats }: Run): Warning[] {
  const slices = heats.flatMap((heat) => heat.slices).filter(({ phase }) => phase === 'measure')
  const kept = heats.reduce((sum, heat) => sum + keptSlices(heat).slices.length, 0)
  return kept < slices.length ? [{ kind: 'excluded', slices: slices.length - kept, of: slices.length }] : []
}

/** Leaving out what others took would have left too little. */
function crowded({ heats }: Run): Warning[] {
  const cells = new Set(heats.flatMap((heat) => [...keptSlices(heat).crowded])).size
  return cells > 0 ? [{ kind: 'crowded', cells }] : []
}

/** Of open loops and what belongs to them; the figures of each kind decide what counts. */
function disturbed(loads: readonly Trial[]): Warning[] {
  const count = loads.filter((load) => load.disturbed).length
  if (count === 0) return []
  const cells = [...Map.groupBy(loads, ({ cell }) => cell).values()]
  return [
    { kind: 'disturbed-loads', loads: count, of: loads.length, crowded: cells.filter(isCrowded).length },
  ]
}

/** Of a server elsewhere nothing can be known: another warning says so. */
function isAllElsewhere(result: StoredResult): boolean {
  const { systems = [] } = (result.kind === 'study' && result.race) || {}
  return systems.length > 0 && systems.every(({ url }) => url !== null)
}

function accounting({ heats }: Run): Warning[] {
  const measured = heats.flatMap(({ slices, trials }) => [...slices, ...trials])
  if (measured.length === 0) return []
  const found = measured.map(({ disturbance }) => disturbance)
  if (found.some(({ serverForeign }) => serverForeign !== null)) return []
  if (found.some(({ serverWait }) => serverWait !== null)) return [{ kind: 'no-foreign-accounting' }]
  const hasCosts = measured.some(({ cpuSeconds }) => cpuSeconds.app !== null)
  return [{ kind: hasCosts ? 'disturbance-unknown' : 'no-accounting' }]
}

function withoutIntervals({ analysis }: RaceResult): Warning[] {
  if (analysis === null) return []
  const races = analysis.races.filter(({ metric }) => metric === 'rate')
  const cells = widthsOf({ ...analysis, races }).filter((width) => !Number.isFinite(width)).length
  return cells > 0 ? [{ kind: 'no-intervals', cells }] : []
}
