import { run } from './run.ts'

/**
 * Runs git in a directory. Variables that git sets for hooks and aliases are removed, because they point to another repository.
 * @returns its standard output
 * @throws {RunError}
 */
export function git(directory: string, args: readonly string[], signal?: AbortSignal): Promise<string> {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^GIT_(?!CONFIG)/.test(name)),
  )
  return run('git', args, { cwd: directory, env, signal })
}
