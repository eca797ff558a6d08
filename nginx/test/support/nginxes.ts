import { after } from 'node:test'
import { sample } from '@startgrid/cli/test-run.ts'
import { findNginx, type Nginx } from '../../src/find/find.ts'

/** One NGINX to test with, or why there is none. */
export interface Candidate {
  readonly choice: string
  readonly nginx: Nginx | undefined
  /** For `skip`: false, or the reason and the command that helps. */
  readonly skip: string | false
}

/** The NGINXes installed here and in the official image; in a short run one of those that are there. */
export async function candidates(): Promise<Candidate[]> {
  const found = await findCandidates(['path', 'docker'])
  const present = found.filter(({ skip }) => skip === false)
  return present.length < 2 ? found : sample('NGINX', present, 1)
}

export async function findCandidates(choices: readonly string[]): Promise<Candidate[]> {
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
