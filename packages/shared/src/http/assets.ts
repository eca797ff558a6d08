import { accessSync, constants } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { StartError } from '../process/config.ts'

/** `cache-control` of files with a hash in their names: their content never changes. */
export const IMMUTABLE = 'public, max-age=31536000, immutable'

/**
 * Checks that the files of a page exist. Without this, a server would start and its pages would lack scripts and styles.
 * @throws {StartError} naming the first file that cannot be read
 */
export function requireAssets(urls: readonly string[], directory: URL): void {
  for (const url of urls) {
    const path = join(fileURLToPath(directory), basename(url))
    try {
      accessSync(path, constants.R_OK)
    } catch (cause) {
      throw new StartError(`${path} cannot be read, but the page needs it: build first.`, { cause })
    }
  }
}
