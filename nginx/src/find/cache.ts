import { homedir } from 'node:os'
import { join } from 'node:path'

/** Where Startgrid keeps what can be made again (XDG base directories: $XDG_CACHE_HOME, else ~/.cache). */
export function cacheDirectory(env: NodeJS.ProcessEnv = process.env): string {
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'startgrid')
}
