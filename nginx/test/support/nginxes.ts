import { after } from 'node:test'
import { findNginx, type Nginx } from '../../src/find.ts'

/** One NGINX to test with, or why there is none. */
export interface Candidate {
  readonly choice: string
  readonly nginx: Nginx | undefined
  /** For `skip`: false, or the reason and the command that helps. */
  readonly skip: string | false
}

/** The NGINXes installed here and in the official image. */
export async function candidates(choices: readonly string[] = ['path', 'docker']): Promise<Candidate[]> {
  return Promise.all(
    choices.map(async (choice) => {
      const found = await findNginx({ choice, download: choice === 'download', env: process.env })
      return found.kind === 'none'
        ? { choice, nginx: undefined, skip: found.describe() }
        : { choice, nginx: found, skip: false as const }
    }),
  )
}

/** Runs `close` when the tests of the file or suite are over. */
export function closeAfter(close: () => unknown): void {
  after(async () => {
    await close()
  })
}
