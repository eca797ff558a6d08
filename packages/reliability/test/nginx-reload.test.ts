import assert from 'node:assert/strict'
import { test } from 'node:test'
import { TEST_RUN } from '@startgrid/cli/test-run.ts'
import { APPS } from '@startgrid/grid/apps.ts'
import { findNginx } from '@startgrid/nginx/find.ts'
import { nginxReload } from '../src/faults/nginx-reload.ts'
import { tryFault } from '../src/run.ts'
import { Subject } from '../src/subject/subject.ts'

const nginx = await findNginx({ download: false })
const skip =
  nginx.kind === 'none' ? nginx.describe() : !nginx.keepaliveMinTimeout && 'this needs NGINX 1.27.4 or later'

// The NGINX of a distribution may be older, and its matrix then has a note instead.
test('an NGINX with keepalive_min_timeout closes no connection while a request is on its way', {
  skip,
}, async () => {
  const [app] = APPS
  assert.ok(app && nginx.kind !== 'none')
  const signal = AbortSignal.timeout(300_000)
  const { findings, figures } = await tryFault(
    nginxReload,
    new Subject({ app, size: TEST_RUN.full ? 'full' : 'short', nginx, signal }),
  )
  assert.deepEqual(findings, [])
  assert.deepEqual([figures.reloads, figures.crossed], [TEST_RUN.full ? 40 : 4, 0])
})
