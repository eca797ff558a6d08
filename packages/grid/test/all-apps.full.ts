import { APPS } from '../src/apps.ts'
import { testBehindNginx } from './conformance.ts'
import { testHotReload } from './hot-reload.ts'
import { testHydration } from './hydration.ts'

/** `test:full`: every app in what `pnpm test` tries with few. */

for (const topology of ['nginx', 'nginx-tls'] as const) testBehindNginx(APPS, topology)
for (const topology of ['direct', 'nginx'] as const)
  testHydration(
    APPS.filter(({ role }) => role === 'ssr'),
    topology,
  )
testHotReload(APPS.filter(({ role, runtime }) => role === 'ssr' && runtime !== 'nginx'))
