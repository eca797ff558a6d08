import { once } from 'node:events'
import { DEFECTS } from './defects.ts'

/** `node src/server.ts DEFECT`: a server of which defects.ts says what is wrong with it, started as the apps are. */

const defect = process.argv[2] ?? ''
const server = DEFECTS[defect]?.().listen(Number(process.env.PORT), '127.0.0.1')
if (server === undefined) throw new Error(`There is no defect '${defect}'.`)
await once(server, 'listening')
const bound = server.address()
const port = typeof bound === 'object' && bound !== null ? bound.port : 0
const line = { app: `bad/${defect}`, pid: process.pid, address: `http://127.0.0.1:${port}`, msg: 'listening' }
process.stdout.write(`${JSON.stringify(line)}\n`)
