import { globSync } from 'node:fs'
import { ratioText, verdictOf } from '@startgrid/bench/src/report/study.ts'
import type { ClaimResult } from '@startgrid/bench/src/result/figures.ts'
import type { Result } from '@startgrid/bench/src/result/result.ts'
import { readResult } from '@startgrid/bench/src/result/result-file.ts'
import { ROOT } from './documents.ts'

/** The studies that docs keep, with their claims. */

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
  return (analysis?.claims ?? []).map((claim) => {
    const [ours, verdict] = [ratioText(claim, cells), verdictOf(claim, cells)]
    return { claim, verdict, ours }
  })
}

/** `needs 5 cores` and `needs 9 cores` are one kind. */
export function kindOf(verdict: string): string {
  return verdict.startsWith('needs') ? 'needs more cores' : verdict
}

/** Of one machine: `57 claims: needs more cores 19; not reproduced here 4` */
export function countVerdicts(records: readonly Result[]): string {
  const rows = records.flatMap(claimsOf)
  const kinds = [...Map.groupBy(rows, ({ verdict }) => kindOf(verdict))].toSorted(
    ([, a], [, b]) => b.length - a.length,
  )
  return `${rows.length} claims: ${kinds.map(([kind, { length }]) => `${kind} ${length}`).join('; ')}`
}
