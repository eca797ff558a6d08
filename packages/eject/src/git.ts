import { run } from './run.ts'

/**
 * Runs git in a directory, without what git sets for its hooks and aliases: that would lead to the repository that those belong to.
 * @returns what it wrote to standard output
 * @throws {RunError}
 */
export function git(directory: string, args: readonly string[], signal?: AbortSignal): Promise<string> {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^GIT_(?!CONFIG)/.test(name)),
  )
  return run('git', args, { cwd: directory, env, signal })
}
