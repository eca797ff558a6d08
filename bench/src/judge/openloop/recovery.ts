import type { Trial } from '../../model/heat.ts'

/** An overload on one launch, with what was measured before and after it at half the capacity. */
export interface Episode {
  before: Trial
  overload: Trial
  /** One after the other, with their series. */
  recovery: readonly Trial[]
}

/** An app has recovered when its p99 is at most this multiple of the p99 before the overload. */
const BACK_WITHIN = 2

/** Milliseconds: below this a p99 is as good as back, whatever it was before. */
const FLOOR_MS = 5

/**
 * Seconds from the last request of the overload to the end of the window that shows p99 back; draining is part of it. Two windows
 * in a row must show it, so that one lucky one does not decide. The moments between two loads are not counted: nothing is offered then.
 * @param overloadMs for how long the overload was offered
 * @returns null if p99 is not back
 */
export function recoveredAfter({ before, overload, recovery }: Episode, overloadMs: number): number | null {
  const limitMs = Math.max(FLOOR_MS, BACK_WITHIN * (before.latency?.p99 ?? 0))
  let begin = Math.max(0, overload.seconds - overloadMs / 1000)
  let back: number | null = null
  for (const trial of recovery) {
    for (const { at, seconds, requests, p99 } of trial.series ?? []) {
      const isBack = requests > 0 && p99 <= limitMs
      if (isBack && back !== null) return back
      back = isBack ? begin + at + seconds : null
    }
    begin += trial.seconds
  }
  return null
}

/** The episodes of one cell, in order, launch by launch; one that was cut short is left out. */
export function episodesOf(trials: readonly Trial[]): Episode[] {
  const episodes: Episode[] = []
  let before: Trial | undefined
  for (const trial of trials) {
    if (trial.purpose === 'level') before = trial
    else if (trial.purpose === 'overload' && before?.launch === trial.launch)
      episodes.push({ before, overload: trial, recovery: [] })
    else if (trial.purpose === 'recovery') extend(episodes, trial)
  }
  return episodes
}

function extend(episodes: Episode[], trial: Trial): void {
  const last = episodes.at(-1)
  if (last?.overload.launch === trial.launch)
    episodes[episodes.length - 1] = { ...last, recovery: [...last.recovery, trial] }
}
