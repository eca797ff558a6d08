import { once } from 'node:events'
import { existsSync, rmSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname } from 'node:path'
import { StartError } from '../process/config.ts'

/**
 * Listens on a unix socket, also in place of a killed process.
 * @returns `unix:` and the path
 * @throws {StartError} if it cannot listen
 */
export async function listenOnSocket(
  path: string,
  open: (place: { path: string }) => unknown,
): Promise<string> {
  await removeStaleSocket(path)
  try {
    await open({ path })
  } catch (error) {
    throw new StartError(socketFailure(error, path), { cause: error })
  }
  return `unix:${path}`
}

/** One sentence: what happened, and what to do. */
function socketFailure(error: unknown, path: string): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  const place = `The socket ${path}`
  if (code === 'EADDRINUSE')
    return `${place} is in use by another process: stop that, or set SOCKET to another path.`
  // The error code differs between runtimes: EACCES or ENOENT.
  if (!existsSync(dirname(path)))
    return `The directory of ${path} does not exist: make it, or set SOCKET to another path.`
  if (code === 'EACCES') return `${place} may not be used by this user: choose another path.`
  return `${place} cannot be used: ${error instanceof Error ? error.message : error}.`
}

/**
 * Removes the socket file of a killed process. Otherwise `listen` would report that the address is in use.
 * @throws {StartError} if the path belongs to something else
 */
async function removeStaleSocket(path: string): Promise<void> {
  const probe = connect(path)
  try {
    await once(probe, 'connect')
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED')) return
    // On Linux, connecting to a plain file fails with the same error.
    if (!statSync(path).isSocket())
      throw new StartError(`SOCKET is '${path}', which exists but is not a socket.`)
    rmSync(path)
  } finally {
    probe.destroy()
  }
}
