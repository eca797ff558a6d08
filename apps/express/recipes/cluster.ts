import { runWorkers } from '#shared/cluster.ts'

// `node src/cluster.ts` uses all cores.
await runWorkers(() => import('../src/server.ts'))
