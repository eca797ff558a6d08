import { formatTimestamp } from '@startgrid/cli/numbers.ts'
import { plural, present } from '@startgrid/cli/text.ts'
import { describeMachine } from '@startgrid/machine/machine.ts'
import { describeVersions } from '@startgrid/machine/provenance.ts'
import { isRanked, isStudy } from '../result/experiment.ts'
import type { Cores, Result } from '../result/result.ts'
import { ResultError } from '../result/result-file.ts'
import type { Document, Findings } from './document.ts'
import { findingsOfGrid } from './grid.ts'
import { formatComment } from './markdown.ts'
import { findingsOfRace } from './race.ts'
import { findingsOfStudy } from './study.ts'

/** What a result says: the ranks of apps, the claims of a study, or what commands differ by; all else is the same. */
export function documentOf(result: Result): Document {
  const { startedAt, finishedAt, warnings, command } = result
  const { subject, sections, conditions, ...found } = findingsOf(result)
  const interrupted = 'Interrupted: not everything that was planned was measured.'
  const notes = [...conditions, ...provenanceOf(result)]
  return {
    ...found,
    subject: `${subject}, ${formatTimestamp(startedAt)}`,
    warnings: [...(finishedAt === null ? [interrupted] : []), ...warnings.map(({ text }) => text)],
    sections: [...sections, { title: 'Where it comes from', notes, isFolded: true }],
    command,
  }
}

function findingsOf(result: Result): Findings {
  if (Object.values(result.experiment.races).some(isRanked)) return findingsOfGrid(result)
  return isStudy(result.experiment) ? findingsOfStudy(result) : findingsOfRace(result)
}

/** Where a result comes from, in sentences: the time, the machine, what ran there, and what was proven. */
function provenanceOf(result: Result): string[] {
  const { startedAt, finishedAt, conformance, machine, settings, versions, nginx, seed } = result
  const proven = conformance.filter(({ differences }) => differences.length === 0).length
  const ended = finishedAt === null ? 'an interruption' : formatTimestamp(finishedAt)
  const systems = Object.values(result.experiment.systems)
  const isOfCommands = systems.every(({ command, running }) => (command ?? running) !== undefined)
  // Nobody knows where a server runs that was there before.
  const isOfServers = systems.every(({ running }) => running !== undefined)
  return present([
    `When: ${formatTimestamp(startedAt)} to ${ended}, heats in a random order from the seed.`,
    `Machine: ${describeMachine(machine)}.`,
    `Cores: ${describeCores(settings.cores, isOfServers)}.`,
    !isOfCommands && `Versions: ${describeVersions(versions)}.`,
    !isOfCommands && `Proxy: ${describeNginx(nginx)}.`,
    `Source: startgrid ${versions.startgrid}, lockfile ${versions.lockfile}, seed ${seed}.`,
    conformance.length > 0 &&
      `Contract: ${proven} of ${plural(conformance.length, 'cell')} passed the suite.`,
  ])
}

function describeCores(cores: Cores | null, isOfServers: boolean): string {
  if (cores === null) return 'nothing was pinned to a core, and the figures include that noise'
  const { server, servers = [server], generator, generators = [generator] } = cores
  if (isOfServers) return `generator on ${nameCores(generators)}; the servers ran already`
  return `servers on ${nameCores(servers)}, generator on ${nameCores(generators)}`
}

/** `core 0`, `cores 0, 2` */
function nameCores(cores: readonly number[]): string {
  return `${cores.length === 1 ? 'core' : 'cores'} ${cores.join(', ')}`
}

function describeNginx(nginx: Result['nginx']): string {
  if (nginx === null) return 'no NGINX'
  const njs = nginx.njs === null ? 'no njs' : `njs ${nginx.njs.version} on engine ${nginx.njs.engine}`
  return `NGINX ${nginx.version} (${nginx.kind}), ${njs}`
}

/**
 * The result of a race of commands as a comment on a pull request. Somebody else may have made its file.
 * @throws {ResultError} if it is not the result of a race of commands
 */
export function commentOf(result: Result): string {
  let cause: unknown
  try {
    const { pilots, analysis } = result
    if (pilots.length > 0 && (analysis === null || Array.isArray(analysis.findings)))
      return formatComment(documentOf(result))
  } catch (error) {
    cause = error // something in it is not what it has to be
  }
  throw new ResultError('It is not the whole result of a race of commands: race makes one.', { cause })
}
