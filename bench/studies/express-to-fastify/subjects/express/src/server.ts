import { createServer } from 'node:http'
import { createApp } from '@startgrid/express/app.ts'
import { serverOptions } from '@startgrid/shared/server.ts'
import { readOptions, start } from '../../../../start.ts'
import { partial } from './partial.ts'

const options = readOptions()
await start(createServer(serverOptions(options.config), createApp(options, partial)), options)
