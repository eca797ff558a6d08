import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/**
 * Fills a directory beside the target, then renames it to the target. So the target is complete or does not exist, even after an
 * interruption.
 * @param target does not exist, or is empty
 */
export async function stage(target: string, fill: (directory: string) => Promise<void>): Promise<void> {
  const staging = await mkdtemp(join(dirname(target), `.${basename(target)}-`))
  try {
    // The directories of mkdtemp are private. A subdirectory gets the usual permissions.
    const directory = join(staging, basename(target))
    await mkdir(directory)
    await fill(directory)
    await rename(directory, target)
  } finally {
    await rm(staging, { recursive: true, force: true })
  }
}

/** Writes files into a directory, by their path in it. */
export async function writeFiles(directory: string, files: ReadonlyMap<string, string>): Promise<void> {
  for (const [path, text] of files) {
    await mkdir(dirname(join(directory, path)), { recursive: true })
    await writeFile(join(directory, path), text)
  }
}
