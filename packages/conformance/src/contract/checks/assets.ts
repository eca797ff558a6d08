import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { type Header, headerValue } from '../../http/header.ts'
import type { Request } from '../../http/request.ts'
import type { HttpResponse } from '../../http/response.ts'
import type { Check } from '../check.ts'
import {
  asset,
  document,
  type Expectation,
  notModified,
  otherMethod,
  partial,
  problemOf,
  refused,
  unlessModified,
} from '../expectation.ts'
import { compareBytes } from '../finding.ts'
import type { Probe } from '../probe.ts'
import { assetType } from '../route.ts'

type Coding = 'br' | 'gzip' | undefined

/** An Accept-Encoding (RFC 9110 section 12.5.3), and the codings of which the contract requires one. */
type Negotiation = readonly [accepts: readonly string[], codings: readonly Coding[]]

const NEGOTIATIONS: readonly Negotiation[] = [
  [[], [undefined]],
  [[''], [undefined]],
  [['identity'], [undefined]],
  [['zstd, deflate'], [undefined]],
  [['brotli, bread, abr, xgzip'], [undefined]],
  [['br'], ['br']],
  [['BR'], ['br', undefined]],
  [['gzip'], ['gzip']],
  [['GZip'], ['gzip', undefined]],
  [['gzip, br'], ['br', 'gzip']],
  [['br,gzip'], ['br', 'gzip']],
  [
    ['gzip', 'br'],
    ['br', 'gzip'],
  ],
  [['gzip, deflate, br, zstd'], ['br', 'gzip']],
  [['gzip, deflate'], ['gzip']],
  [['gzip;q=1.0, br;q=0.1'], ['br', 'gzip', undefined]],
  [['br;q=0.001'], ['br', undefined]],
  [['gzip ; q=0.5'], ['gzip', undefined]],
  [['*'], ['br', 'gzip', undefined]],
  [['*;q=0.5'], ['br', 'gzip', undefined]],
]

/** `q=0` means not accepted. Beside `*` that is not asked: no client sends it, and some libraries read only the `*`. */
const REFUSALS: readonly Negotiation[] = [
  [['br;q=0'], [undefined]],
  [['br;q=0.0, gzip;q=0.000'], [undefined]],
  [['gzip;q=0'], [undefined]],
  [['br;q=0, gzip'], ['gzip']],
  [['gzip, br ; q=0'], ['gzip']],
  [['gzip;q=0, br'], ['br']],
  [['*;q=0'], [undefined]],
  [['*;q=0, gzip'], ['gzip', undefined]],
]

/** Attempts to read other files than the hashed ones. */
const TRAVERSALS = [
  ...[
    '../package.json',
    '%2e%2e%2fpackage.json',
    '%2e%2e/package.json',
    '..%2fpackage.json',
    '..%5cpackage.json',
  ],
  ...['..%5c..%5cpackage.json', '%252e%252e%252fpackage.json', '....//package.json', '.%2e/%2e./etc/passwd'],
  ...['../page/server.js', '..%2fpage%2fserver.js', '../../../../../../../etc/passwd', '%2fetc%2fpasswd'],
  ...['//etc/passwd', '..;/package.json', './../package.json'],
]

/** Lines about `/assets/*`. */
export const assets: readonly Check[] = [
  {
    name: 'every asset has its type and may be kept',
    section: 'Headers',
    roles: ['ssr'],
    run: (probe) =>
      eachAsset(probe, async (target) => {
        await probe.expect({ target }, asset(assetType(target), undefined))
        await probe.expect({ target: `${target}?v=1` }, asset(assetType(target), undefined))
      }),
  },
  {
    name: 'every asset is the file that was built',
    section: 'Routes',
    roles: ['ssr'],
    needsPage: true,
    run: (probe) =>
      eachAsset(probe, async (target, body) => {
        const file = probe.subject.page && new URL(basename(target), probe.subject.page.ASSETS_DIR)
        const built = file && (await readFile(file).catch(() => undefined))
        if (built) probe.report({ target }, ...compareBytes(built, body))
        else probe.report({ target }, { expected: 'a file of the build', received: 'another file' })
      }),
  },
  negotiation('an asset comes in a coding that the client accepts', NEGOTIATIONS),
  negotiation('a coding with q=0 is not accepted', REFUSALS),
  {
    name: 'each coding of an asset has an etag of its own',
    section: 'Headers',
    roles: ['ssr'],
    run: (probe) =>
      eachAsset(probe, async (target) => {
        const tags: (string | undefined)[] = []
        for (const accept of ['identity', 'gzip', 'br']) tags.push(await etagOf(probe, target, accept))
        const sent = tags.filter((tag) => tag !== undefined)
        if (new Set(sent).size === sent.length) return
        probe.report({ target }, { expected: 'three etags, or none', received: tags.join(', ') })
      }),
  },
  {
    name: 'an asset that the client has is 304, or comes once more',
    section: 'Headers',
    roles: ['ssr'],
    run: (probe) =>
      eachAsset(probe, async (target) => {
        for (const accept of ['identity', 'gzip', 'br']) {
          const etag = await etagOf(probe, target, accept)
          if (etag === undefined) continue
          const coding = accept === 'identity' ? undefined : accept
          const choices = unlessModified(asset(assetType(target), undefined, coding), etag)
          const opaque = etag.replace(/^W\//, '')
          // RFC 9110 section 13.1.2: the comparison is weak.
          const matches = [etag, opaque, `W/${opaque}`, `"x", ${etag}`, `"x",W/"y",${opaque} , "z"`, '*']
          await probe.expectEach(conditions(target, accept, matches), choices)
          await probe.expect({ method: 'HEAD', ...conditional(target, accept, etag) }, choices)
        }
      }),
  },
  {
    name: 'an asset that the client has not is 200',
    section: 'Headers',
    roles: ['ssr'],
    run: (probe) =>
      eachAsset(probe, async (target, body) => {
        const etag = (await etagOf(probe, target, 'identity')) ?? '""'
        const opaque = etag.replace(/^W\//, '')
        const others = [
          '"x"',
          'W/"x"',
          '"x", "y"',
          opaque.slice(0, -2).concat('"'),
          opaque.replace(/"$/, 'x"'),
        ]
        const coded = await etagOf(probe, target, 'br')
        const mismatches = coded === undefined ? others : [...others, coded]
        await probe.expectEach(conditions(target, 'identity', mismatches), asset(assetType(target), body))
      }),
  },
  {
    name: 'a date is a validator only where the asset has one',
    section: 'Headers',
    roles: ['ssr'],
    run: (probe) =>
      eachAsset(probe, async (target, body, response) => {
        const whole = asset(assetType(target), body)
        const dated = headerValue(response.headers, 'last-modified') !== undefined
        const since = (date: string): Request => ({ target, headers: [['if-modified-since', date]] })
        await probe.expect(since('Thu, 01 Jan 1970 00:00:00 GMT'), whole)
        const etag = headerValue(response.headers, 'etag')
        const later = dated ? [whole, notModified(etag)] : whole
        await probe.expect(since('Fri, 01 Jan 2100 00:00:00 GMT'), later)
      }),
  },
  {
    name: 'a range gets the whole asset, or the part that content-range names',
    section: 'Headers',
    roles: ['ssr'],
    run: (probe) =>
      eachAsset(probe, async (target, body, response) => {
        const whole = asset(assetType(target), body)
        const part = (range: string): Request => ({ target, headers: [['range', range]] })
        for (const range of ['bytes=0-9', 'bytes=-1', 'bytes=0-']) await expectPart(probe, part(range), body)
        const several: Expectation = { ...whole, status: 206, statusOnly: true }
        await probe.expect(part('bytes=0-0,2-3'), [whole, several])
        await probe.expect(part('bytes=99999999-'), [whole, { ...several, status: 416 }])
        const etag = headerValue(response.headers, 'etag')
        if (etag === undefined) return
        const ifRange = (tag: string): Request => ({
          target,
          headers: [
            ['range', 'bytes=0-9'],
            ['if-range', tag],
          ],
        })
        await expectPart(probe, ifRange(etag), body)
        await probe.expect(ifRange('"another"'), whole)
      }),
  },
  {
    name: 'another method on an asset is refused in no coding',
    section: 'Everything else',
    roles: ['ssr'],
    run: (probe) =>
      eachAsset(probe, async (target) => {
        await probe.expect({ method: 'POST', target, headers: acceptHeaders(['br']) }, otherMethod())
      }),
  },
  {
    name: 'an unknown asset is 404, or 403 where it looks like an attack',
    section: 'Everything else',
    roles: ['ssr'],
    async run(probe) {
      const [target = '/assets/x.js'] = await probe.subject.assets()
      const targets = [
        ...['/assets/x', '/assets/x.js', '/assets', '/assets/a/b', '/assets//x', '/assets/index.html'],
        ...[`${target}/`, `${target}/x`, `${target}x`, `${target}%20`, `${target}.map`, upper(target)],
        ...['/assets/.', '/assets/.gitkeep', '/assets/manifest.json', '/assets/*', '/assets/constructor'],
      ]
      const unconditional = targets.map((path) => ({
        target: path,
        headers: [['if-none-match', '*'] as const],
      }))
      const requests = [...targets.map((path) => ({ target: path })), ...unconditional]
      await probe.expectEach(requests, [problemOf(404), problemOf(403)])
    },
  },
  {
    name: 'the directory of the assets is 404 or 403',
    section: 'Everything else',
    roles: ['ssr'],
    run: (probe) => probe.expectEach(['/assets/'], [problemOf(404), problemOf(403)]),
  },
  {
    name: 'no path leads out of the assets',
    section: 'Everything else',
    roles: ['ssr'],
    async run(probe) {
      const { proxied } = probe.subject.session
      const choices = [problemOf(404), problemOf(403), problemOf(400), ...(proxied ? [refused(400)] : [])]
      await probe.expectEach(
        TRAVERSALS.map((path) => `/assets/${path}`),
        choices,
      )
      // After resolution, these paths are the page.
      for (const path of ['..', '%2e%2e', '%2e%2e%2f'])
        await probe.expect({ target: `/assets/${path}` }, [...choices, document(50)])
    },
  },
]

/** Allows a server with support for ranges, or without it. Which part it sends is checked against what it says (RFC 9110 section 14.4). */
async function expectPart(probe: Probe, request: Request, body: Buffer): Promise<void> {
  await probe.attempt(request, async () => {
    const response = await probe.connected((connection) => connection.exchange(request))
    const range = headerValue(response.headers, 'content-range') ?? ''
    const [, start, end] = /^bytes (\d+)-(\d+)\//.exec(range) ?? []
    const type = assetType(request.target)
    probe.judge(request, response, [asset(type, body), partial(type, body, [Number(start), Number(end)])])
  })
}

function negotiation(name: string, rows: readonly Negotiation[]): Check {
  return {
    name,
    section: 'Headers',
    roles: ['ssr'],
    run: (probe) =>
      eachAsset(probe, async (target, body) => {
        // NGINX before 1.23 reads only the first of several lines.
        const { proxied } = probe.subject.session
        for (const [accepts, codings] of rows.filter((row) => !proxied || row[0].length < 2)) {
          const request = { target, headers: acceptHeaders(accepts) }
          const choices = codings.map((coding) => asset(assetType(target), undefined, coding))
          const response = await probe.expect(request, choices)
          if (response?.status === 200) compareDecoded(probe, request, response, body)
        }
      }),
  }
}

/** The decoded body must equal the file. */
function compareDecoded(probe: Probe, request: Request, response: HttpResponse, body: Buffer): void {
  const coding = headerValue(response.headers, 'content-encoding')
  try {
    probe.report(request, ...compareBytes(body, decode(response.body, coding)))
  } catch {
    probe.report(request, { expected: `a body in ${coding}`, received: 'bytes that cannot be decoded' })
  }
}

function decode(body: Buffer, coding: string | undefined): Buffer {
  if (coding === 'br') return brotliDecompressSync(body)
  return coding === 'gzip' ? gunzipSync(body) : body
}

/** Runs for every asset with its bytes; a page without assets is a difference. */
async function eachAsset(
  probe: Probe,
  use: (target: string, body: Buffer, response: HttpResponse) => Promise<void>,
): Promise<void> {
  const targets = await probe.subject.assets()
  if (targets.length === 0)
    probe.report({ target: '/' }, { expected: 'assets in the page', received: 'none' })
  for (const target of targets) {
    const response = await probe.expect({ target }, asset(assetType(target), undefined))
    if (response !== undefined) await use(target, response.body, response)
  }
}

async function etagOf(probe: Probe, target: string, accept: string): Promise<string | undefined> {
  const response = await probe.connected((connection) =>
    connection.exchange({ target, headers: acceptHeaders([accept]) }),
  )
  return headerValue(response.headers, 'etag')
}

function conditions(target: string, accept: string, tags: readonly string[]): Request[] {
  return tags.map((tag) => conditional(target, accept, tag))
}

function conditional(target: string, accept: string, tag: string): Request {
  return { target, headers: [...acceptHeaders([accept]), ['if-none-match', tag]] }
}

function acceptHeaders(values: readonly string[]): Header[] {
  return values.map((value) => ['accept-encoding', value])
}

function upper(target: string): string {
  return `/assets/${target.slice('/assets/'.length).toUpperCase()}`
}
