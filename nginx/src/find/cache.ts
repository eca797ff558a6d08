import { homedir } from 'node:os'
import { join } from 'node:path'

/** Startgrid's directory for files that can be made again: in $XDG_CACHE_HOME, by default ~/.cache (XDG base directories). */
export function cacheDirectory(env: NodeJS.ProcessEnv = process.env): string {
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'startgrid')
}
