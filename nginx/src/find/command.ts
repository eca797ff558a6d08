import { execFile } from 'node:child_process'

/** A program with its arguments, ready for `spawn` or `run`. */
export interface Command {
  readonly file: string
  readonly args: string[]
}

/** How a command ended. `code` is undefined if it could not be started or ran into its time limit. */
export interface Outcome {
  readonly code: number | undefined
  readonly stdout: string
  readonly stderr: string
}

/**
 * Runs a command to its end. Never rejects: a missing program or a time limit is an `Outcome` without code.
 * @param limitMs milliseconds until it is killed
 */
export function run(command: Command, limitMs = 10_000): Promise<Outcome> {
  const options = { timeout: limitMs, killSignal: 'SIGKILL' as const }
  return new Promise((resolve) => {
    const child = execFile(command.file, command.args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : undefined
      const why = error !== null && code === undefined && stderr === '' ? error.message : stderr
      resolve({ code, stdout, stderr: why })
    })
    child.stdin?.end()
  })
}
