import { ForeseenError } from '@startgrid/cli/arguments.ts'
import { oneLine } from '@startgrid/cli/text.ts'
import { describePlace, isSettled, nextOf, sinceOf } from '../../judge/since.ts'
import { TimeError } from '../../measure/proof.ts'
import { describeFinding } from '../../report/race.ts'
import type { Commit, Start } from '../../result/figures.ts'
import type { Result } from '../../result/result.ts'

/** Without so much time, no commit is raced any more: milliseconds. */
const LEAST_MS = 60_000

interface Bisecting {
  /** Of both ends, with the commits. What is found is filled in. */
  result: Result
  signal: AbortSignal
  /** `performance.now()` when it has to be over. */
  endsAt: number
  say(text: string): void
  save(result: Result): void
  /** What a merge has brought. */
  branchOf(merge: string): Commit[]
  /**
   * @param follow is told what was measured so far, and says whether that is enough
   * @returns why it failed: a clause; undefined if it did not
   * @throws {ForeseenError} if it cannot be raced
   */
  raceCommit(commit: Commit, follow: (starts: Start[]) => boolean): Promise<string | undefined>
}

/** Looks for the commit that made the difference, until it is known or time is over. One that cannot be raced is skipped. */
export async function bisect({ result, signal, say, ...run }: Bisecting): Promise<void> {
  const { search: commits = [] } = result
  const [good = '', bad = ''] = Object.keys(result.experiment.systems)
  if (signal.aborted) return
  const finding = result.analysis?.findings.find((one) => !one.isTwin && one.verdict === 'differs')
  if (finding === undefined) {
    const text = `No difference between ${good} and ${bad} is shown, so no commit was looked for.`
    result.warnings.push({ kind: 'race', text })
    return
  }
  const opened = new Set<string>()
  say(`${describeFinding(finding, result)}. Looking for the commit among ${commits.length}:`)
  let isLate = false
  while (!signal.aborted && !isLate && run.endsAt - performance.now() > LEAST_MS) {
    const commit = nextOf(commits)
    if (commit === undefined) {
      // Which commits of a merge that made the difference?
      const found = sinceOf(commits)
        .steps.filter(({ set }) => set.length === 1)
        .flatMap(({ set }) => set)
      const merge = found.find((hash) => !opened.has(hash))
      if (merge === undefined) break
      opened.add(merge)
      const at = commits.findIndex(({ hash }) => hash === merge)
      commits.splice(at, 0, ...run.branchOf(merge))
      continue
    }
    const before = commit.starts
    const follow = (starts: Start[]) => {
      commit.starts = [...before, ...starts]
      return isSettled(commits, commit)
    }
    const failure = await run.raceCommit(commit, follow).catch((error: unknown) => {
      isLate = error instanceof TimeError
      if (signal.aborted || error instanceof ForeseenError) return oneLine(error)
      throw error
    })
    if (failure !== undefined && !signal.aborted && !isLate) commit.skipped = failure
    Object.assign(result.analysis ?? {}, { since: sinceOf(commits) })
    run.save(result)
    if (!signal.aborted)
      say(`  ${commit.hash}  ${commit.title}: ${describePlace(commits, commit, { good, bad })}`)
  }
  if (signal.aborted) result.finishedAt = null
}
