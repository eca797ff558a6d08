import { userInfo } from 'node:os'
import { git } from './git.ts'

/** How the first commit was made. */
export interface Commit {
  /** The author that git is configured with, or `user <user@localhost>`. */
  author: string
  /** Whether git has an author in its configuration. */
  known: boolean
}

/** Creates a repository with one commit. The machine's hooks and templates are not used. */
export async function createRepository(directory: string, signal: AbortSignal): Promise<Commit> {
  const call = (...args: string[]) => git(directory, args, signal)
  await call('init', '--quiet', '--template=', '--initial-branch=main')
  const known = await call('config', 'user.email').then(
    (email) => email.trim() !== '',
    () => false,
  )
  const { username } = userInfo()
  const identity = known ? [] : ['-c', `user.name=${username}`, '-c', `user.email=${username}@localhost`]
  await call('add', '--all')
  await call(...identity, 'commit', '--quiet', '--no-verify', '--no-gpg-sign', '--message=First commit')
  const author = await call('log', '-1', '--format=%an <%ae>')
  return { author: author.trim(), known }
}
