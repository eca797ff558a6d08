import { equal } from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { test } from 'node:test'
import { Router } from 'express'
import { protect, SERVER_OPTIONS } from '#shared/http/protect.ts'
import { closeWithProblem } from '#shared/http/raw-problem.ts'
import { listen } from '#shared/process/lifecycle.ts'
import { createOptions } from '#shared/testing/options.ts'
import { createApp } from '../src/app.ts'

test('the line of a body that came too slowly has the 408 that was sent', async (t) => {
  const { readLines, ...options } = createOptions({ PORT: '0' })
  const server = protect(createServer(SERVER_OPTIONS, createApp(options, Router())), options)
  // What the handler timeout does after 30 s.
  server.on('request', ({ socket }, response) => setImmediate(closeWithProblem, socket, 408, response))
  const url = await listen(server, options.config)
  t.after(() => server.close())
  const headers = { 'content-type': 'application/json', 'content-length': 2 }
  const sending = request(url, { method: 'POST', headers })
  sending.write('{')
  const [response] = await once(sending, 'response')
  equal(response.statusCode, 408)
  const [line] = await readLines(1)
  equal(line?.status, 408)
})
