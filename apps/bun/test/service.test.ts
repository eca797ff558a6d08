import { expect, test } from 'bun:test'
import { StartError } from '#shared/process/config.ts'
import { createOptions } from '#shared/testing-before/options.ts'
import { createApp } from '../src/app.ts'
import { createService } from '../src/service.ts'

test('a WebSocket that nobody closes does not hold the server open', async () => {
  const options = createOptions({ PORT: '0' })
  const routes = {
    '/echo': (request: Request, server: Bun.Server<undefined>) =>
      server.upgrade(request) ? undefined : new Response('No WebSocket.', { status: 400 }),
  }
  const app = { ...createApp(options, routes), websocket: { message() {} } }
  const service = createService(() => app, options.config)
  const url = await service.listen()
  const ws = new WebSocket(`${url.replace('http', 'ws')}/echo`)
  const { promise: opened, resolve: open } = Promise.withResolvers<unknown>()
  const { promise: closed, resolve: close } = Promise.withResolvers<number>()
  ws.onopen = open
  ws.onclose = ({ code }) => close(code)
  await opened
  await service.close()
  expect(await closed).toBe(1001)
})

test('a route that is refused is a reason not to start, not a defect', async () => {
  const options = createOptions({ PORT: '0' })
  const service = createService(() => createApp(options, { '/page': {} }), options.config)
  await expect(service.listen()).rejects.toThrow(StartError)
})
