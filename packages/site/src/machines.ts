import { globSync } from 'node:fs'
import { basename } from 'node:path'
import { type Standing, type StandingEntry, standingsOf } from '@startgrid/bench/src/judge/standings.ts'
import type { Result } from '@startgrid/bench/src/result/result.ts'
import { readResult } from '@startgrid/bench/src/result/result-file.ts'
import { formatRank } from '@startgrid/cli/numbers.ts'
import { nameMachine } from '@startgrid/machine/machine.ts'
import { ROOT } from './documents.ts'

/** The races that docs keep, one for each machine. They are shown apart, and never averaged. */

export interface Machine {
  /** Name of its file. */
  name: string
  /** `AMD EPYC, 2 cores, 2026-11-24` */
  title: string
  result: Result
  standings: readonly Standing[]
}

/** @throws {ResultError} if a file is not a result */
export function readMachines(): Machine[] {
  return globSync('docs/results/*.json', { cwd: ROOT })
    .toSorted()
    .map((file) => {
      const result = readResult(ROOT + file)
      const title = `${nameMachine(result.machine)}, ${result.startedAt.slice(0, 10)}`
      return { name: basename(file, '.json'), title, result, standings: standingsOf(result) }
    })
}

/** What could not be told apart is in the order of the alphabet. */
export function inGroups(entries: readonly StandingEntry[]): StandingEntry[] {
  const key = ({ places: { rate }, spec }: StandingEntry) =>
    [rate?.from ?? 99, rate?.to ?? 99].map((place) => String(place).padStart(3, '0')).join() + spec.title
  return entries.toSorted((a, b) => key(a).localeCompare(key(b)))
}

/** Who ties with whom, best first: from the ranges of ranks. Somebody can be in two groups. */
export function groupsOf(entries: readonly StandingEntry[]): StandingEntry[][] {
  const ranked = entries.filter(({ places }) => places.rate !== null)
  const ends = ranked.map(({ places }) => places.rate?.to ?? 0)
  return ends.flatMap((end, start) => (end > (ends[start - 1] ?? 0) ? [ranked.slice(start, end)] : []))
}

export function placeOf({ places: { rate } }: StandingEntry): string {
  return rate === null ? 'void' : formatRank(rate)
}

/** The median start of an app, in seconds; undefined where it is not stored. */
export function startupOf({ heats }: Result, app: string): number | undefined {
  const times = heats
    .flatMap(({ launches }) => launches.filter((launch) => launch.app === app))
    .flatMap(({ startup }) => startup ?? [])
    .toSorted((a, b) => a - b)
  return times[Math.floor(times.length / 2)]
}
