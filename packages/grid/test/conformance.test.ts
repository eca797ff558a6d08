import { APPS } from '../src/apps.ts'
import { testBehindNginx } from './conformance.ts'

/** Without NGINX each app has its own test in apps/. Behind it, here is a framework of each runtime, and all-apps.test.ts has the others. */

const chosen = ['fastify', 'bun', 'njs']
testBehindNginx(
  APPS.filter(({ framework }) => chosen.includes(framework)),
  'nginx-tls',
)
