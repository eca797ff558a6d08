import { once } from 'node:events'
import type { Server } from 'node:net'

/** `node src/server.ts DEFECT`: a server of which ./DEFECT.ts says what is wrong with it, started as the apps are. */

const defect = process.argv[2] ?? ''
const { createDefect } = (await import(`./${defect}.ts`)) as { createDefect: () => Server }
const server = createDefect().listen(Number(process.env.PORT), '127.0.0.1')
await once(server, 'listening')
const bound = server.address()
const port = typeof bound === 'object' && bound !== null ? bound.port : 0
const line = { app: `bad/${defect}`, pid: process.pid, address: `http://127.0.0.1:${port}`, msg: 'listening' }
process.stdout.write(`${JSON.stringify(line)}\n`)
