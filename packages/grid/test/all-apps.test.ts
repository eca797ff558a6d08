import { describe } from 'node:test'
import { APPS, findApps } from '../src/apps.ts'
import { testBehindNginx } from './conformance.ts'
import { testHotReload } from './hot-reload.ts'
import { testHydration } from './hydration.ts'

describe('full: every app', () => {
  const pages = APPS.filter(({ role }) => role === 'ssr')
  for (const topology of ['nginx', 'nginx-tls'] as const) testBehindNginx(APPS, topology)
  for (const topology of ['direct', 'nginx'] as const) testHydration(pages, topology)
  testHotReload(pages.filter(({ runtime }) => runtime !== 'nginx'))
})

// Without NGINX each app has its own test in apps/. Behind it, one framework is always tried.
testBehindNginx([...findApps('fastify/hello'), ...findApps('fastify/ssr')], 'nginx-tls')
