import { findApps } from '../src/apps.ts'
import { testBehindNginx } from './conformance.ts'

/** Without NGINX each app has its own test in apps/. Behind it, one framework is here, and all-apps.test.ts has all. */

testBehindNginx([...findApps('fastify/hello'), ...findApps('fastify/ssr')], 'nginx-tls')
