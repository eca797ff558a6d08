import { readOptions, start } from '../../../../start.ts'
import { createApp } from './app.ts'

const ROLES = {
  partial: async () => (await import('@startgrid/express-to-fastify-express/partial.ts')).partial,
  ssr: async () => (await import('@startgrid/express/ssr.ts')).ssr,
  status: async () => (await import('@startgrid/express/status.ts')).status,
}

const options = readOptions()
const app = createApp(options, await ROLES[process.argv[2] as keyof typeof ROLES]())
await app.ready()
await start(app.server, options)
