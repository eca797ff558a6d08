import { hasCode } from './file-error.ts'
import { RunError, run } from './run.ts'

const ARGUMENTS = [
  'install',
  '--package-lock-only',
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  '--loglevel=error',
  // Otherwise the lockfile names the registry of this machine, which others may not reach.
  '--omit-lockfile-registry-resolved',
  '--fetch-retries=1',
  '--fetch-retry-mintimeout=1000',
]

/**
 * Writes package-lock.json. Nothing is installed.
 * @returns undefined, or why there is none: half a sentence
 */
export async function writeLockfile(directory: string, signal: AbortSignal): Promise<string | undefined> {
  try {
    // On Windows, npm is a script of the shell.
    await run('npm', ARGUMENTS, { cwd: directory, signal, shell: process.platform === 'win32' })
    return undefined
  } catch (error) {
    if (!(error instanceof RunError)) throw error
    if (hasCode(error.cause, 'ENOENT')) return 'there is no npm'
    const code = /\bE(?:NOTFOUND|AI_AGAIN|CONN\w+|TIMEDOUT|NETUNREACH|HOSTUNREACH)\b/.exec(error.message)?.[0]
    if (code !== undefined) return `the registry of npm cannot be reached (${code})`
    const [reason = ''] = error.message.split('\n').filter((line) => line.startsWith('npm error'))
    return `npm says: ${reason.replace('npm error ', '')}`
  }
}
