import type { Progress } from './progress.ts'

/** Milliseconds. A terminal and a package manager both pass on one Ctrl-C, so a second signal within this time is the same one. */
const SAME_INTERRUPTION_MS = 500

export interface Interruption {
  signal: AbortSignal
  /** The exit code of an interrupted run: 130 after Ctrl-C, 143 after SIGTERM. */
  code(): number
}

/** The first signal asks for an orderly end. The second ends this process at once, and its children with it. */
export function listenForInterruption(progress: Progress): Interruption {
  const interruption = new AbortController()
  let at = 0
  let code = 0
  const onSignal = (name: NodeJS.Signals) => {
    if (interruption.signal.aborted) {
      if (performance.now() - at < SAME_INTERRUPTION_MS) return
      progress.stop()
      process.exit(code)
    }
    at = performance.now()
    code = name === 'SIGINT' ? 130 : 143
    progress.say('Stopping the servers. Ctrl-C once more ends at once.')
    interruption.abort()
  }
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal)
  return { signal: interruption.signal, code: () => code }
}
