import { userInfo } from 'node:os'
import { git } from './git.ts'

/**
 * Creates a repository with one commit. The machine's hooks and templates are not used.
 * @returns whether git knows its author; if not, that is `user <user@localhost>`
 */
export async function createRepository(directory: string, signal: AbortSignal): Promise<boolean> {
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
  return known
}
