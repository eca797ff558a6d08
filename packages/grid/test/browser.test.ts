import { findApps } from '../src/apps.ts'
import { testHotReload } from './hot-reload.ts'
import { testHydration } from './hydration.ts'

/** The page in a real browser, of a framework on each runtime. */

testHydration([...findApps('node/ssr'), ...findApps('bun/ssr')], 'direct')
testHydration([...findApps('fastify/ssr'), ...findApps('njs/ssr')], 'nginx')
testHotReload(findApps('express/ssr'))
