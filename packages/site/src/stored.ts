import { globSync } from 'node:fs'
import { basename } from 'node:path'
import { type Standing, type StandingEntry, standingsOf } from '@startgrid/bench/src/judge/ranks.ts'
import { ratioText, verdictOf } from '@startgrid/bench/src/report/study.ts'
import type { ClaimResult } from '@startgrid/bench/src/result/figures.ts'
import type { Result } from '@startgrid/bench/src/result/result.ts'
import { readResult } from '@startgrid/bench/src/result/result-file.ts'
import { nameMachine } from '@startgrid/machine/machine.ts'
import { ROOT } from './documents.ts'

/** The results that docs keep. */

/** A race. Those of several machines are shown apart, and never averaged. */
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
  const files = globSync('docs/results/*.json', { cwd: ROOT }).toSorted()
  return files.map((file) => {
    const result = readResult(ROOT + file)
    const title = `${nameMachine(result.machine)}, ${result.startedAt.slice(0, 10)}`
    return { name: basename(file, '.json'), title, result, standings: standingsOf(result) }
  })
}

/** What could not be told apart is in the order of the alphabet. */
export function inGroups(entries: readonly StandingEntry[]): StandingEntry[] {
  const key = ({ place, spec }: StandingEntry) =>
    [place?.from ?? 99, place?.to ?? 99].map((one) => String(one).padStart(3, '0')).join() + spec.title
  return entries.toSorted((a, b) => key(a).localeCompare(key(b)))
}

/** A claim of a study. */
export interface ClaimRow {
  claim: ClaimResult
  verdict: string
  /** Our ratio with its interval. */
  ours: string
}

/** Every study and machine that has a file; those that decided most come first. */
export function readStudies(): Result[] {
  return globSync('docs/studies/results/*/*.json', { cwd: ROOT })
    .toSorted()
    .map((file) => readResult(ROOT + file))
    .toSorted((a, b) => countUndecided(a) - countUndecided(b))
}

function countUndecided({ analysis }: Result): number {
  return (analysis?.claims ?? []).filter(({ verdict }) => verdict === 'undecided here').length
}

/** A question of ours has none. */
export function claimsOf({ analysis, cells }: Result): ClaimRow[] {
  const claims = analysis?.claims ?? []
  return claims.map((claim) => ({ claim, verdict: verdictOf(claim, cells), ours: ratioText(claim, cells) }))
}

/** `needs 5 cores` and `needs 9 cores` are one kind. */
export function kindOf(verdict: string): string {
  return verdict.startsWith('needs') ? 'needs more cores' : verdict
}

/** Of one machine: `57 claims: needs more cores 19; not reproduced here 4` */
export function countVerdicts(records: readonly Result[]): string {
  const rows = records.flatMap(claimsOf)
  const groups = [...Map.groupBy(rows, ({ verdict }) => kindOf(verdict))]
  const kinds = groups.toSorted(([, a], [, b]) => b.length - a.length)
  return `${rows.length} claims: ${kinds.map(([kind, { length }]) => `${kind} ${length}`).join('; ')}`
}
