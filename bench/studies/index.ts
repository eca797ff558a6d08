import type { Study } from '../src/model/study.ts'
import { clusterStudy } from './cluster/study.ts'
import { expressToFastify } from './express-to-fastify/study.ts'
import { nginxProxy } from './nginx-proxy/study.ts'
import { njsVsNode } from './njs-vs-node/study.ts'
import { workerPool } from './worker-pool/study.ts'

/** All studies, in the order in which `--all` runs them. */
export const STUDIES: readonly Study[] = [nginxProxy, clusterStudy, workerPool, njsVsNode, expressToFastify]
