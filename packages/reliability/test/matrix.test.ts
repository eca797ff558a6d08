import { test } from 'node:test'
import { APPS } from '@startgrid/grid/matrix.ts'
import { findNginx } from '@startgrid/nginx/find.ts'
import { FAULTS } from '../src/faults/index.ts'
import { tryFault } from '../src/run.ts'
import { Subject } from '../src/subject.ts'

/** Every fault on every app, in its short form. */

const found = await findNginx()
const nginx = found.kind === 'none' ? undefined : found

for (const fault of FAULTS) {
  test(fault.name, { concurrency: fault.atOnce ?? 1 }, async (context) => {
    await Promise.all(
      APPS.map((app) =>
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
