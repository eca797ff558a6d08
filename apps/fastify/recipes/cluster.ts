import cluster from 'node:cluster'
import { availableParallelism } from 'node:os'

// `node src/cluster.ts` uses all cores: the primary passes connections to the workers in turn.
cluster.setupPrimary({ exec: 'src/server.ts' })
for (let core = 0; core < availableParallelism(); core++) cluster.fork()

const working = new Set<number>()
let isStopping = false

cluster.on('listening', ({ id }) => working.add(id))
cluster.on('exit', ({ id }, code) => {
  if (isStopping) process.exitCode ||= code
  else if (working.has(id)) cluster.fork()
  else process.exit(1) // it could not start, and has said why
})

process.on('SIGINT', () => {
  isStopping = true // a terminal sends it to the workers as well
})
process.on('SIGTERM', () => {
  isStopping = true
  for (const worker of Object.values(cluster.workers ?? {})) worker?.process.kill('SIGTERM')
})
