import { gunzipSync } from 'node:zlib'
import { product, products } from '@startgrid/shared/page/product.ts'
import { headerValue } from '../../http/header.ts'
import type { Request } from '../../http/request.ts'
import type { HttpResponse } from '../../http/response.ts'
import type { Check } from '../check.ts'
import { document, type Expectation, fragment, problemOf, streamedDocument } from '../expectation.ts'
import { compareBytes } from '../finding.ts'
import { nonceOf } from '../judge.ts'
import { assetUrls, type Told, withoutSecrets } from '../markup.ts'
import type { Probe } from '../probe.ts'
import { FRAGMENT, routesOf } from '../route.ts'

const LOCALES = ['en-US', 'de-DE', 'fr-FR']

/** How many products, counted from the first, have a fragment. */
const FRAGMENTS = 50

const SLUG = product(0).slug

/** Lines about the document and the fragments. `inspectDocument` looks at nonce, id and products of every one. */
export const page: readonly Check[] = [
  {
    name: 'the document works under its own policy',
    section: 'Headers',
    roles: ['ssr'],
    run: (probe) => probe.expectEach([{ target: '/' }, { target: '/?items=50' }], document(50)),
  },
  {
    name: 'the document is the page, byte for byte',
    section: 'Routes',
    roles: ['ssr'],
    needsPage: true,
    async run(probe) {
      for (const items of [0, 1, 50, 1000]) {
        const request = { target: `/?items=${items}` }
        const response = await probe.expect(request, document(items))
        if (response === undefined) continue
        const { id: requestId = '', nonce = '' } = told(response)
        const html = probe.subject.page?.renderDocument({ items, requestId, nonce }) ?? ''
        probe.report(request, compareBytes(Buffer.from(html), response.body))
      }
    },
  },
  {
    name: 'a proxy in front compresses the page if the client accepts gzip',
    section: 'Headers',
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
            probe.report({ target, headers }, [{ expected: 'vary: Accept-Encoding', received: 'no vary' }])
        }
        await expectCompressed(probe, target, expected)
      }
    },
  },
  {
    name: 'the page loads its assets',
    section: 'Routes',
    roles: ['ssr'],
    async run(probe) {
      const response = await probe.expect({ target: '/' }, document(50))
      const urls = assetUrls(response?.body.toString('utf8') ?? '')
      for (const extension of ['.js', '.css']) {
        if (urls.some((url) => url.endsWith(extension))) continue
        probe.report({ target: '/' }, [
          { expected: `a ${extension} below /assets/`, received: urls.join(' ') || 'none' },
        ])
      }
    },
  },
  {
    name: 'two equal requests differ only in id and nonce',
    section: 'What differs between two equal responses',
    async run(probe) {
      for (const { target, expected } of await routesOf(probe)) {
        const first = await probe.expect({ target }, expected)
        const second = await probe.expect({ target }, expected)
        if (first && second) probe.report({ target }, compareBytes(normalized(first), normalized(second)))
      }
    },
  },
  {
    name: 'a fragment for every locale and slug',
    section: 'Routes',
    roles: ['ssr'],
    needs: ['partial'],
    needsPage: true,
    async run(probe) {
      for (const locale of LOCALES) {
        for (const { slug } of products(FRAGMENTS).filter((_, index) => index % 7 === 0)) {
          const request = { target: `/partial/${locale}/${slug}` }
          const response = await probe.expect(request, fragment())
          const html = probe.subject.page?.renderPartial(locale, slug) ?? ''
          if (response) probe.report(request, compareBytes(Buffer.from(html), response.body))
        }
      }
    },
  },
  {
    name: 'locale and slug are percent-decoded',
    section: 'Routes',
    roles: ['ssr'],
    needs: ['partial'],
    run: (probe) =>
      probe.expectEach(
        [{ target: FRAGMENT.replaceAll('-', '%2D') }, { target: FRAGMENT.replace('honeyed', '%68oneyed') }],
        fragment(),
      ),
  },
  {
    name: 'an unknown locale or slug is 404',
    section: 'Routes',
    roles: ['ssr'],
    needs: ['partial'],
    async run(probe) {
      const locales = [
        'xx',
        'en',
        'en-us',
        'EN-US',
        'en_US',
        'constructor',
        '__proto__',
        '%20en-US',
        'en-US%2F',
      ]
      const slugs = [
        'x',
        SLUG.toUpperCase(),
        `${SLUG}x`,
        `${SLUG}%20`,
        `${SLUG}%2F`,
        'constructor',
        '__proto__',
      ]
      const targets = [
        ...locales.map((locale) => `/partial/${locale}/${SLUG}`),
        ...[...slugs, product(FRAGMENTS).slug].map((slug) => `/partial/en-US/${slug}`),
      ]
      await probe.expectEach(
        targets.map((target) => ({ target })),
        problemOf(404),
      )
    },
  },
  {
    name: 'an absent fragment is unknown',
    section: 'Absent capabilities',
    roles: ['ssr'],
    lacks: 'partial',
    async run(probe) {
      for (const method of ['GET', 'POST']) await probe.expect({ method, target: FRAGMENT }, problemOf(404))
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
      return probe.report(request, [
        { expected: 'content-encoding: gzip', received: coding ?? 'no content-encoding' },
      ])
    const headers = response.headers.filter(([name]) => !/^content-(?:encoding|length)$/i.test(name))
    const body = gunzipSync(response.body)
    probe.judge(
      request,
      { ...response, headers, body },
      { ...expected, headers: { ...expected.headers, vary: ACCEPT } },
    )
    if (response.body.length > body.length / 2)
      probe.report(request, [
        { expected: `less than half of ${body.length} bytes`, received: `${response.body.length} bytes` },
      ])
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
