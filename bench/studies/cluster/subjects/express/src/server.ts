import cluster from 'node:cluster'
import express from 'express'

/** `server.ts single`, or `server.ts cluster` with the source's four workers: Express's hello, as both are in the source. */
const isClustered = process.argv[2] === 'cluster'
const cpus = 4

const app = express()
app.get('/', (_request, response) => {
  response.send('Hello World!')
})

if (isClustered && cluster.isPrimary) {
  let ready = 0
  cluster.on('listening', (_worker, { port }) => {
    ready += 1
    if (ready === cpus) tell(port)
  })
  for (let i = 0; i < cpus; i++) cluster.fork()
} else {
  const { PORT, HOST = '127.0.0.1' } = process.env
  const server = app.listen(Number(PORT), HOST, () => {
    const address = server.address()
    if (!isClustered && typeof address === 'object') tell(address?.port)
  })
  server.keepAliveTimeout = 65_000 // a system waits for its turn for longer than Node's 5 s
}

/** The launcher of the grid waits for this line. */
function tell(port: number | undefined): void {
  console.log(JSON.stringify({ msg: 'listening', pid: process.pid, address: `http://127.0.0.1:${port}` }))
}
