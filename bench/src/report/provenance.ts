import { formatTimestamp } from '@startgrid/cli/numbers.ts'
import { plural } from '@startgrid/cli/text.ts'
import { describeMachine } from '@startgrid/machine/machine.ts'
import { describeVersions } from '@startgrid/machine/provenance.ts'
import { PROFILES } from '../experiment/profiles.ts'
import type { RaceResult } from '../model/result.ts'
import type { Cores } from '../model/settings.ts'

/** Where a result comes from. */

/** Sentences: the time, the machine, what ran there, and what was proven. */
export function provenanceOf(result: RaceResult): string[] {
  const { startedAt, finishedAt, conformance } = result
  const proven = conformance.filter(({ differences }) => differences.length === 0).length
  const ended = finishedAt === null ? 'an interruption' : formatTimestamp(finishedAt)
  return [
    `When: ${formatTimestamp(startedAt)} to ${ended}, heats in a random order from the seed.`,
    `Machine: ${describeMachine(result.machine)}.`,
    `Cores: ${describeCores(result)}.`,
    `Versions: ${describeVersions(result.versions)}.`,
    `Proxy: ${describeNginx(result)}.`,
    `Source: ${describeSource(result)}.`,
    `Contract: ${proven} of ${plural(conformance.length, 'cell')} passed the suite.`,
  ]
}

function describeCores({ settings: { cores } }: RaceResult): string {
  if (cores === null) return 'nothing was pinned to a core, and the figures include that noise'
  return `app and proxy on core ${cores.server}, ${nameGenerators(cores)}`
}

/** `generator on core 1`, `generators on cores 7, 6` */
export function nameGenerators({ generator, generators = [generator] }: Cores): string {
  const cores = generators.join(', ')
  return generators.length === 1 ? `generator on core ${cores}` : `generators on cores ${cores}`
}

export function describeNginx({ nginx }: Pick<RaceResult, 'nginx'>): string {
  if (nginx === null) return 'no NGINX'
  const njs = nginx.njs === null ? 'no njs' : `njs ${nginx.njs.version} on engine ${nginx.njs.engine}`
  return `NGINX ${nginx.version} (${nginx.kind}), ${njs}`
}

/** How much was measured. */
export function describeSettings(result: RaceResult): string {
  const { settings, cells, heats } = result
  const { profile, slices, sliceMs } = settings
  const slice = `of ${sliceMs} ms`
  const effort = `${plural(settings.heats, 'heat')} of each role, each of ${slices === 1 ? '1 pass' : `${slices} passes`} with slices ${slice}`
  const roles = new Set(cells.filter(({ skipped }) => skipped === null).map(({ role }) => role)).size
  const missing =
    heats.length === roles * settings.heats ? '' : `; ${plural(heats.length, 'heat')} measured in all`
  return `${profile} profile: ${effort}${missing}`
}

/** What the effort can and cannot show: sentences. */
export function describeReach({ settings: { profile } }: RaceResult): string | null {
  if (profile === 'custom') return 'The effort was set by hand: what it could show is said with each race.'
  if (profile === 'full') return null
  return PROFILES[profile].shows
}

/** The hash that fixes every dependency, the commit, and the seed of the order. */
export function describeSource({ versions, seed }: Pick<RaceResult, 'versions' | 'seed'>): string {
  return `startgrid ${versions.startgrid}, lockfile ${versions.lockfile}, seed ${seed}`
}
