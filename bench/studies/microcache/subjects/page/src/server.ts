import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { renderPage } from '@startgrid/shared/page/server.js'

/**
 * The React page of 50 items without what is one client's own, so that a cache may give it to all: `/page?for=1` is valid for a second, `&times=400` renders it so
 * often, `&delay=200` waits as for a database. `x-made` says when it was made, in milliseconds of `Date.now()`. `/count` says how many were made.
 */

let made = 0

const server = createServer({ keepAliveTimeout: 65_000 }, async (request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost')
  if (pathname === '/count') {
    response.setHeader('cache-control', 'no-store')
    response.end(String(made))
    return
  }
  made++
  response.setHeader('x-made', Date.now())
  const delay = Number(searchParams.get('delay') ?? 0)
  const times = Number(searchParams.get('times') ?? 1)
  if (delay > 0) await sleep(delay)
  response.setHeader('cache-control', `max-age=${searchParams.get('for') ?? 1}`)
  response.setHeader('content-type', 'text/html; charset=utf-8')
  for (let time = 1; time < times; time++) render()
  response.end(render())
})

function render(): string {
  return renderPage('shop', { items: 50, requestId: '', nonce: '' })
}

server.listen(0, '127.0.0.1')
await once(server, 'listening')

const { port } = server.address() as AddressInfo
// The launcher of the grid waits for this line.
console.log(JSON.stringify({ msg: 'listening', pid: process.pid, address: `http://127.0.0.1:${port}` }))
process.once('SIGTERM', () => process.exit())
