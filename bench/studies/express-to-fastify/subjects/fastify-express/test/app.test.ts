import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ssr } from '@startgrid/express/ssr.ts'
import { Router } from 'express'
import type { AppOptions } from '#shared/process/lifecycle.ts'
import { testApp, testBrokenBodies } from '#shared/testing-before/app.ts'
import { createOptions } from '#shared/testing-before/options.ts'
import { testPage, testPageUnderLoad } from '#shared/testing-before/page.ts'
import { failing } from '../../../../../../apps/express/fixtures/failing.ts'
import { start } from './start.ts'

/** What the apps' suite asks of every framework, but for a foreign id: no route of the study fetches a response. */
const foreign = Router().get('/foreign', (_request, response) => {
  response.set('referrer-policy', 'origin').end()
})
const startAll = (options: AppOptions) => start(options, ssr, foreign, failing)
testApp(startAll)
testBrokenBodies(startAll)
testPage(startAll)
testPageUnderLoad(startAll)

test('logs one line per request and none of a probe, with the client that a trusted proxy names', async () => {
  for (const [trusted, client] of [
    ['', '127.0.0.1'],
    ['10.0.0.0/8', '127.0.0.1'],
    ['loopback', '203.0.113.7'],
  ] as const) {
    const { readLines, ...options } = createOptions({ TRUST_PROXY: trusted })
    await using app = await start(options)
    const headers = { 'x-request-id': 'r-1', 'x-forwarded-for': '198.51.100.1, 203.0.113.7' }
    for (const path of ['/livez', '/_/status?a=b', '/%zz'])
      await (await fetch(app.url + path, { headers })).arrayBuffer()
    const lines = await readLines(2)
    deepEqual(
      lines.map(({ requestId, method, path, status, client: from }) => [
        requestId,
        method,
        path,
        status,
        from,
      ]),
      [
        ['r-1', 'GET', '/_/status', 200, client],
        ['r-1', 'GET', '/%zz', 400, client],
      ],
    )
  }
})
