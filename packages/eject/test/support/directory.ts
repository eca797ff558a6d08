import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A directory outside of the workspace, gone at the end of the block. */
export function temporaryDirectory() {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'eject-')))
  return {
    path,
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  }
}
