import { formatTimestamp } from '@startgrid/cli/numbers.ts'
import { plural } from '@startgrid/cli/text.ts'
import { describeMachine } from '@startgrid/machine/machine.ts'
import { describeVersions } from '@startgrid/machine/provenance.ts'
import { PROFILES } from '../experiment/profiles.ts'
import type { Result } from '../result/result.ts'
import type { Cores } from '../result/settings.ts'

/** Where a result comes from. */

/** Sentences: the time, the machine, what ran there, and what was proven. */
export function provenanceOf(result: Result): string[] {
  const { startedAt, finishedAt, conformance, machine, settings, versions, nginx, seed } = result
  const proven = conformance.filter(({ differences }) => differences.length === 0).length
  const ended = finishedAt === null ? 'an interruption' : formatTimestamp(finishedAt)
  const systems = Object.values(result.experiment.systems)
  const isOfCommands = systems.every(({ command, running }) => (command ?? running) !== undefined)
  // Nobody knows where a server runs that was there before.
  const isOfServers = systems.every(({ running }) => running !== undefined)
  return [
    `When: ${formatTimestamp(startedAt)} to ${ended}, heats in a random order from the seed.`,
    `Machine: ${describeMachine(machine)}.`,
    `Cores: ${describeCores(settings.cores, isOfServers)}.`,
    ...(isOfCommands ? [] : [`Versions: ${describeVersions(versions)}.`, `Proxy: ${describeNginx(nginx)}.`]),
    `Source: startgrid ${versions.startgrid}, lockfile ${versions.lockfile}, seed ${seed}.`,
    ...(conformance.length === 0
      ? []
      : [`Contract: ${proven} of ${plural(conformance.length, 'cell')} passed the suite.`]),
  ]
}

function describeCores(cores: Cores | null, isOfServers: boolean): string {
  if (cores === null) return 'nothing was pinned to a core, and the figures include that noise'
  const { server, servers = [server], generator, generators = [generator] } = cores
  if (isOfServers) return `generator on ${nameCores(generators)}; the servers ran already`
  return `servers on ${nameCores(servers)}, generator on ${nameCores(generators)}`
}

/** `core 0`, `cores 0, 2` */
export function nameCores(cores: readonly number[]): string {
  return `${cores.length === 1 ? 'core' : 'cores'} ${cores.join(', ')}`
}

function describeNginx(nginx: Result['nginx']): string {
  if (nginx === null) return 'no NGINX'
  const njs = nginx.njs === null ? 'no njs' : `njs ${nginx.njs.version} on engine ${nginx.njs.engine}`
  return `NGINX ${nginx.version} (${nginx.kind}), ${njs}`
}

/** How much was measured. */
export function describeSettings(result: Result): string {
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
export function describeReach({ settings: { profile } }: Result): string | null {
  if (profile === 'custom') return 'The effort was set by hand: what it could show is said below the chart.'
  if (profile === 'full') return null
  return PROFILES[profile].shows
}
