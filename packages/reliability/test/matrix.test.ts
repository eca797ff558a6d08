import { test } from 'node:test'
import { APPS } from '@startgrid/grid/matrix.ts'
import { findNginx } from '@startgrid/nginx/find.ts'
import { FAULTS } from '../src/faults/index.ts'
import { tryFault } from '../src/run.ts'
import { Subject } from '../src/subject/subject.ts'

/**
 * Every fault in its short form, on one app of each framework; on all apps with STARTGRID_RELIABILITY=all, as `.ci/run --full` sets it.
 * ssr has the most to lose, so it is tried where it differs: on node's streams, on web streams, in Bun and in NGINX.
 */
const SAMPLE = ['node/hello', 'fastify/ssr', 'express/status', 'koa/hello', 'hono/ssr', 'bun/ssr', 'njs/ssr']
const apps = APPS.filter(({ name }) => process.env.STARTGRID_RELIABILITY === 'all' || SAMPLE.includes(name))

const found = await findNginx()
const nginx = found.kind === 'none' ? undefined : found

for (const fault of FAULTS) {
  test(fault.name, { concurrency: fault.atOnce ?? 1 }, async (context) => {
    await Promise.all(
      apps.map((app) =>
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
