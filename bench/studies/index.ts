import type { Study } from '../src/study/study.ts'
import { clusterStudy } from './cluster.ts'
import { expressToFastify } from './express-to-fastify.ts'
import { nginxProxy } from './nginx-proxy.ts'
import { njsVsNode } from './njs-vs-node.ts'
import { workerPool } from './worker-pool.ts'

/** All studies, in the order in which `--all` runs them. */
export const STUDIES: readonly Study[] = [nginxProxy, clusterStudy, workerPool, njsVsNode, expressToFastify]
