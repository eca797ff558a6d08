import { describe, test } from 'node:test'
import { sample, TEST_RUN } from '@startgrid/cli/test-run.ts'
import { APPS, type App } from '@startgrid/grid/apps.ts'
import { findNginx } from '@startgrid/nginx/find.ts'
import type { Fault } from '../src/fault.ts'
import { FAULTS } from '../src/faults/index.ts'
import { tryFault } from '../src/run.ts'
import { Subject } from '../src/subject/subject.ts'

/** Neighbours in the list are alike, so a short run tries one of both, and the next run the other one. */
const DUE = FAULTS.filter((_, place) => TEST_RUN.full || (place + TEST_RUN.seed) % 2 === 0)

/** A fault is due in every second run, so its apps rotate at half the speed of the seeds. */
const TURN = { ...TEST_RUN, seed: Math.floor(TEST_RUN.seed / 2) }

/**
 * Every fault in its short form: in a full run on all apps, in a short one on one app. From turn to turn, it alternates between an ssr app, which
 * has the most to lose, and another one.
 */
function appsFor(fault: Fault): readonly App[] {
  if (TEST_RUN.full) return APPS
  const apps = APPS.filter((app) => fault.absent?.(app, 'short') === undefined)
  const pages = apps.filter(({ role }) => role === 'ssr')
  const others = apps.filter(({ role }) => role !== 'ssr')
  const [chosen = []] = sample(
    `roles of ${fault.name}`,
    [pages, others].filter(({ length }) => length > 0),
    1,
    TURN,
  )
  return sample(fault.name, chosen, 1, { ...TURN, seed: Math.floor(TURN.seed / 2) })
}

const found = await findNginx()
const nginx = found.kind === 'none' ? undefined : found

// In a short run most of the time is waiting, so faults are tried side by side.
describe('the matrix', { concurrency: TEST_RUN.full ? 1 : 3 }, () => {
  for (const fault of DUE) {
    test(fault.name, { concurrency: fault.atOnce ?? 1 }, async (context) => {
      await Promise.all(
        appsFor(fault).map((app) =>
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
