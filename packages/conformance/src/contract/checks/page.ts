import { gunzipSync } from 'node:zlib'
import { headerValue } from '../../http/header.ts'
import type { Request } from '../../http/request.ts'
import type { HttpResponse } from '../../http/response.ts'
import type { Check } from '../check.ts'
import { document, type Expectation, streamedDocument } from '../expectation.ts'
import { compareBytes } from '../finding.ts'
import { nonceOf } from '../judge.ts'
import { assetUrls, type Told, withoutSecrets } from '../markup.ts'
import type { Probe } from '../probe.ts'
import { routesOf } from '../route.ts'

/** Lines about the document. `inspectDocument` looks at nonce, id and products of every one. */
export const page: readonly Check[] = [
  {
    name: 'the document works under its own policy',
    roles: ['ssr'],
    run: (probe) => probe.expectEach(['/', '/?items=50'], document(50)),
  },
  {
    name: 'the document is the page, byte for byte',
    roles: ['ssr'],
    needsPage: true,
    async run(probe) {
      for (const items of [0, 1, 50, 1000]) {
        const request = { target: `/?items=${items}` }
        const response = await probe.expect(request, document(items))
        if (response === undefined) continue
        const { id: requestId = '', nonce = '' } = told(response)
        const html = probe.subject.page?.renderPage('shop', { items, requestId, nonce }) ?? ''
        probe.report(request, ...compareBytes(Buffer.from(html), response.body))
      }
    },
  },
  {
    name: 'a proxy in front compresses the page if the client accepts gzip',
    roles: ['ssr'],
    needsCompression: true,
    async run(probe) {
      const routes: [target: string, expected: Expectation][] = [
        ['/?items=50', document(50)],
        ...(probe.subject.absent.includes('stream')
          ? []
          : ([['/stream?items=50&delay=1', streamedDocument(50)]] as [string, Expectation][])),
      ]
      for (const [target, expected] of routes) {
        for (const accepted of [undefined, 'identity', 'gzip;q=0']) {
          const headers: Request['headers'] = accepted === undefined ? [] : [['accept-encoding', accepted]]
          const plain = await probe.expect({ target, headers }, expected)
          if (plain !== undefined && headerValue(plain.headers, 'vary') === undefined)
            probe.report({ target, headers }, { expected: 'vary: Accept-Encoding', received: 'no vary' })
        }
        await expectCompressed(probe, target, expected)
      }
    },
  },
  {
    name: 'the page loads its assets',
    roles: ['ssr'],
    async run(probe) {
      const response = await probe.expect({ target: '/' }, document(50))
      const urls = assetUrls(response?.body.toString('utf8') ?? '')
      for (const extension of ['.js', '.css']) {
        if (urls.some((url) => url.endsWith(extension))) continue
        probe.report(
          { target: '/' },
          { expected: `a ${extension} below /assets/`, received: urls.join(' ') || 'none' },
        )
      }
    },
  },
  {
    name: 'two equal requests differ only in id and nonce',
    async run(probe) {
      for (const { target, expected } of await routesOf(probe)) {
        const first = await probe.expect({ target }, expected)
        const second = await probe.expect({ target }, expected)
        if (first && second) probe.report({ target }, ...compareBytes(normalized(first), normalized(second)))
      }
    },
  },
]

/** Decodes the response to a client that accepts gzip, and compares it with the one that is expected without. */
async function expectCompressed(probe: Probe, target: string, expected: Expectation): Promise<void> {
  const request: Request = { target, headers: [['accept-encoding', 'gzip']] }
  await probe.attempt(request, async () => {
    const response = await probe.connected((connection) => connection.exchange(request))
    const coding = headerValue(response.headers, 'content-encoding')
    if (coding !== 'gzip')
      return probe.report(request, {
        expected: 'content-encoding: gzip',
        received: coding ?? 'no content-encoding',
      })
    const headers = response.headers.filter(([name]) => !/^content-(?:encoding|length)$/i.test(name))
    const body = gunzipSync(response.body)
    probe.judge(
      request,
      { ...response, headers, body },
      { ...expected, headers: { ...expected.headers, vary: ACCEPT } },
    )
    if (response.body.length > body.length / 2)
      probe.report(request, {
        expected: `less than half of ${body.length} bytes`,
        received: `${response.body.length} bytes`,
      })
  })
}

const ACCEPT = /^accept-encoding$/i

function told(response: HttpResponse): Told {
  return { id: headerValue(response.headers, 'x-request-id'), nonce: nonceOf(response) }
}

const FREE = new Set(['date', 'connection', 'keep-alive', 'server', 'etag'])

/** Everything of a response that must be the same next time, as bytes. */
function normalized(response: HttpResponse): Buffer {
  const lines = response.headers
    .map(([name, value]) => `${name.toLowerCase()}: ${withoutSecrets(value, told(response))}`)
    .filter((line) => !FREE.has(line.slice(0, line.indexOf(':'))))
  const body = withoutSecrets(response.body.toString('latin1'), told(response))
  return Buffer.from(`${lines.sort().join('\n')}\n\n${body}`, 'latin1')
}
