import { userInfo } from 'node:os'
import { run } from './run.ts'

/** How the first commit was made. */
export interface Commit {
  /** Whoever git knows, or `user <user@localhost>` where it knows nobody. */
  author: string
  /** Whether git knows who that is. */
  known: boolean
}

/** Makes a repository with one commit. The hooks and templates of the machine are for other repositories. */
export async function createRepository(directory: string, signal: AbortSignal): Promise<Commit> {
  const git = (...args: string[]) => run('git', args, { cwd: directory, env: ownEnvironment(), signal })
  await git('init', '--quiet', '--template=', '--initial-branch=main')
  const { username } = userInfo()
  const known = await git('config', 'user.email').then(
    (email) => email.trim() !== '',
    () => false,
  )
  const identity = known ? [] : ['-c', `user.name=${username}`, '-c', `user.email=${username}@localhost`]
  await git('add', '--all')
  await git(...identity, 'commit', '--quiet', '--no-verify', '--no-gpg-sign', '--message=First commit')
  const author = await git('log', '-1', '--format=%an <%ae>')
  return { author: author.trim(), known }
}

/** Without what git sets for its hooks and aliases, which would lead to the repository that those belong to. */
function ownEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^GIT_(?!CONFIG)/.test(name)))
}
