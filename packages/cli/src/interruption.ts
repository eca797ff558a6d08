import type { Progress } from './progress.ts'

/** Terminals and package managers both pass on a Ctrl-C: what follows this soon, in milliseconds, is the same one. */
const SAME_INTERRUPTION_MS = 500

export interface Interruption {
  signal: AbortSignal
  /** The exit code of an interrupted run: 130 after Ctrl-C, 143 after SIGTERM. */
  code(): number
}

/** The first signal asks for an orderly end, the second is obeyed at once: children end with this process. */
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
