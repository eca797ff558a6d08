import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { ForeseenError } from '@startgrid/cli/foreseen-error.ts'

/** A program that failed. The message contains its output. */
export class RunError extends ForeseenError {
  override name = 'RunError'
}

/**
 * Runs a program to its end.
 * @param signal ends it
 * @returns what it wrote to standard output
 * @throws {RunError}
 */
export async function run(
  file: string,
  args: readonly string[],
  options: { cwd: string; env?: NodeJS.ProcessEnv; signal?: AbortSignal | undefined; shell?: boolean },
): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(file, args, { ...options, maxBuffer: 2 ** 26 })
    return stdout
  } catch (error) {
    options.signal?.throwIfAborted()
    const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string }
    throw new RunError(`${file} ${args.join(' ')}: ${`${stdout}${stderr}`.trim() || message}`, {
      cause: error,
    })
  }
}
