import type { Progress } from './progress.ts'

/** Milliseconds. A terminal and a package manager both pass on one Ctrl-C, so a second signal within this time is the same one. */
const SAME_INTERRUPTION_MS = 500

export interface Interruption {
  signal: AbortSignal
  /** The exit code of an interrupted run: 130 after Ctrl-C, 143 after SIGTERM, 129 if the terminal was lost. */
  code(): number
}

const CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const

/** The first signal asks for an orderly end. The second ends this process at once, and its children with it. */
export function listenForInterruption(progress: Progress): Interruption {
  const interruption = new AbortController()
  let at = 0
  let code = 0
  const onSignal = (name: keyof typeof CODES) => {
    if (interruption.signal.aborted) {
      if (performance.now() - at < SAME_INTERRUPTION_MS) return
      progress.stop()
      process.exit(code)
    }
    at = performance.now()
    code = CODES[name]
    progress.say('Stopping the servers. Ctrl-C once more ends at once.')
    interruption.abort()
  }
  for (const name of Object.keys(CODES) as (keyof typeof CODES)[]) process.on(name, () => onSignal(name))
  // Nobody reads a terminal that was lost.
  process.stderr.on('error', () => {})
  return { signal: interruption.signal, code: () => code }
}
