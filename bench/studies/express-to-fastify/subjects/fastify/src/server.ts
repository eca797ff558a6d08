import { createApp } from '@startgrid/fastify/app.ts'
import { readOptions, start } from '../../../../start.ts'
import { partial } from './partial.ts'

const options = readOptions()
const app = createApp(options, partial)
await app.ready()
await start(app.server, options)
