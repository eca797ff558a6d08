import { gunzipSync } from 'node:zlib'
import { headerValue, type Request } from '@startgrid/wire/request.ts'
import { document, type Expectation, invalid } from '../expectation.ts'
import { compareBytes, differ } from '../finding.ts'
import { nonceOf } from '../markup.ts'
import type { Check, Probe } from '../probe.ts'

/** Values that are not a number, not a whole number, or out of range for every limit. */
const INVALID = [
  ...['-1', '0.5', '5+5', '5,6', '5%2C6', 'abc', '5a', 'null', 'NaN', 'Infinity', 'true', '--5'],
  ...['%D9%A3', '99999999999999999999', '[5]', '5%205'],
]

/** Lines about the document, for ssr. `inspectDocument` looks at the products of every one. */
export const page: readonly Check[] = [
  {
    name: 'the document is the page with so many items, byte for byte; 50 where the number is absent',
    async run(probe) {
      const { renderPage } = await import('@startgrid/shared/page/server.js')
      for (const items of [0, 1, 7, 50, 99, 100, 1000]) {
        const request = { target: `/?items=${items}` }
        const response = await probe.expect(request, document(items))
        if (response === undefined) continue
        const requestId = headerValue(response.headers, 'x-request-id') ?? ''
        const html = await renderPage('shop', { items, requestId, nonce: nonceOf(response) ?? '' })
        probe.report(request, compareBytes(Buffer.from(html), response.body))
      }
      await probe.expectEach(['/', '/?', '/?x=1'], document(50))
      await probe.expectEach(['/?x=1&items=5', '/?items=5&x=1'], document(5))
    },
  },
  {
    name: 'items that are no whole number up to 1000 are 400',
    async run(probe) {
      const values = ['1001', ...INVALID, '5&items=6']
      for (const value of values) await probe.expect({ target: `/?items=${value}` }, invalid('items'))
    },
  },
  {
    name: 'the stream has the same rules for items',
    needs: 'stream',
    async run(probe) {
      for (const items of [0, 1, 1000])
        await probe.expect({ target: `/stream?delay=0&items=${items}` }, document(items))
      await probe.expect({ target: '/stream?delay=0' }, document(50))
      for (const value of ['1001', ...INVALID, '5&items=6'])
        await probe.expect({ target: `/stream?delay=0&items=${value}` }, invalid('items'))
    },
  },
  {
    name: 'a delay that is no whole number up to 5000 is 400',
    needs: 'stream',
    async run(probe) {
      for (const value of ['5001', ...INVALID, '0&delay=1'])
        await probe.expect({ target: `/stream?items=1&delay=${value}` }, invalid('delay'))
      const request = { target: '/stream?items=1&delay=5000' }
      await probe.connected(async (connection) => {
        connection.send(request)
        const head = await probe.attempt(request, () => connection.head())
        if (head !== undefined && head.status !== 200)
          probe.report(request, differ('status 200', `status ${head.status}`))
      })
    },
  },
  {
    name: 'a proxy in front compresses the page if the client accepts gzip',
    needsCompression: true,
    async run(probe) {
      const targets = ['/?items=50']
      if (!probe.subject.absent.includes('stream')) targets.push('/stream?items=50&delay=1')
      for (const target of targets) {
        for (const accepted of ['identity', 'gzip;q=0']) {
          const request: Request = { target, headers: [['accept-encoding', accepted]] }
          await probe.expect(request, varying(document(50)))
        }
        await expectCompressed(probe, target, document(50))
      }
    },
  },
]

/** A cache must know that the response depends on what the client accepts. */
function varying(expected: Expectation): Expectation {
  return { ...expected, headers: { ...expected.headers, vary: /\baccept-encoding\b/i } }
}

/** Decodes the response to a client that accepts gzip, and compares it with the one that is expected without. */
async function expectCompressed(probe: Probe, target: string, expected: Expectation): Promise<void> {
  const request: Request = { target, headers: [['accept-encoding', 'gzip']] }
  await probe.attempt(request, async () => {
    const response = await probe.connected((connection) => connection.exchange(request))
    const coding = headerValue(response.headers, 'content-encoding')
    if (coding !== 'gzip')
      return probe.report(request, differ('content-encoding: gzip', coding ?? 'no content-encoding'))
    const body = gunzipSync(response.body)
    probe.judge(request, { ...response, body }, varying(expected))
    const { length } = response.body
    if (length > body.length / 2)
      probe.report(request, differ(`less than half of ${body.length} bytes`, `${length} bytes`))
  })
}
