import { ForeseenError } from '@startgrid/cli/arguments.ts'
import { oneLine } from '@startgrid/cli/text.ts'
import { describePlace, isSettled, nextOf, sinceOf } from '../../judge/since.ts'
import { describeFinding } from '../../report/race.ts'
import type { Result } from '../../result/result.ts'
import type { Commit, Start } from '../../result/since.ts'

/** Without so much time, no commit is raced any more: milliseconds. */
const LEAST_MS = 60_000

interface Bisecting {
  /** Of both ends. What is found is filled in. */
  result: Result
  commits: Commit[]
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
export async function bisect({ result, commits, signal, say, ...run }: Bisecting): Promise<void> {
  const [good = '', bad = ''] = Object.keys(result.experiment.systems)
  if (signal.aborted) return
  const finding = result.analysis?.findings.find((one) => !one.isTwin && one.verdict === 'differs')
  if (finding === undefined) {
    const text = `No difference between ${good} and ${bad} is shown, so no commit was looked for.`
    result.warnings.push({ kind: 'race', text })
    return
  }
  result.search = commits
  const update = () => Object.assign(result.analysis ?? {}, { since: sinceOf(commits) })
  const opened = new Set<string>()
  say(`${describeFinding(finding, result)}. Looking for the commit among ${commits.length}:`)
  while (!signal.aborted && run.endsAt - performance.now() > LEAST_MS) {
    const commit = nextOf(commits)
    if (commit !== undefined) {
      const before = commit.starts
      const follow = (starts: Start[]) => {
        commit.starts = [...before, ...starts]
        update()
        run.save(result)
        return isSettled(commits, commit)
      }
      const failure = await run.raceCommit(commit, follow).catch((error: unknown) => {
        if (signal.aborted || error instanceof ForeseenError) return oneLine(error)
        throw error
      })
      if (signal.aborted) break
      if (failure !== undefined) commit.skipped = failure
      say(`  ${commit.hash}  ${commit.title}: ${describePlace(commits, commit, { good, bad })}`)
    } else {
      // Which commits of a merge that made the difference?
      const merge = sinceOf(commits).steps.find(
        ({ set: [hash = '', other] }) => other === undefined && !opened.has(hash),
      )
      const [hash = ''] = merge?.set ?? []
      if (merge === undefined) break
      opened.add(hash)
      commits.splice(
        commits.findIndex((one) => one.hash === hash),
        0,
        ...run.branchOf(hash),
      )
    }
  }
  if (signal.aborted) result.finishedAt = null
  update()
}
