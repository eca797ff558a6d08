import type { Study } from '../src/result/experiment.ts'
import { clusterStudy } from './cluster/study.ts'
import { expressToFastify } from './express-to-fastify/study.ts'
import { fastifyReadme } from './fastify-readme/study.ts'
import { howMuchItMatters } from './how-much-it-matters/study.ts'
import { nginxProxy } from './nginx-proxy/study.ts'
import { njsVsNode } from './njs-vs-node/study.ts'
import { overhead } from './overhead/study.ts'
import { reverseProxy } from './reverse-proxy/study.ts'
import { runtimes } from './runtimes/study.ts'
import { startup } from './startup/study.ts'
import { streaming } from './streaming/study.ts'
import { upgrades } from './upgrades/study.ts'
import { workerPool } from './worker-pool/study.ts'

/** Studies of published sources, in the order in which `--all` runs them. */
export const PUBLISHED: readonly Study[] = [
  nginxProxy,
  clusterStudy,
  workerPool,
  njsVsNode,
  expressToFastify,
  reverseProxy,
  streaming,
  runtimes,
  fastifyReadme,
  upgrades,
]

/** All studies: those, and our own questions. */
export const STUDIES: readonly Study[] = [...PUBLISHED, howMuchItMatters, overhead, startup]
