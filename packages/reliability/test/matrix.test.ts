import { describe, test } from 'node:test'
import { sample, TEST_RUN } from '@startgrid/cli/test-run.ts'
import { APPS, type App } from '@startgrid/grid/matrix.ts'
import { findNginx } from '@startgrid/nginx/find.ts'
import { FAULTS } from '../src/faults/index.ts'
import { tryFault } from '../src/run.ts'
import { Subject } from '../src/subject/subject.ts'

/**
 * Every fault in its short form: in a full run on all apps, in a short one on two. One of them is always an ssr app, which has the most to
 * lose; faults differ in their apps.
 */
function appsFor(fault: string): App[] {
  const pages = APPS.filter(({ role }) => role === 'ssr')
  const others = APPS.filter(({ role }) => role !== 'ssr')
  return [...sample(`${fault} of pages`, pages, 1), ...sample(`${fault} of others`, others, 1)]
}

const found = await findNginx()
const nginx = found.kind === 'none' ? undefined : found

// In a short run most of the time is waiting, so faults are tried side by side.
describe('the matrix', { concurrency: TEST_RUN.full ? 1 : 3 }, () => {
  for (const fault of FAULTS) {
    test(fault.name, { concurrency: fault.atOnce ?? 1 }, async (context) => {
      await Promise.all(
        appsFor(fault.name).map((app) =>
          context.test(app.name, async (one) => {
            const subject = new Subject({ app, size: 'short', nginx, signal: one.signal })
            const { state, findings } = await tryFault(fault, subject)
            if (state === 'absent' || state === 'undecided') one.skip(findings.join(' '))
            else if (state === 'failed') throw new Error(findings.join('\n'))
          }),
        ),
      )
    })
  }
})
