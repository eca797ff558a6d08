import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { headerValue } from '../../http/header.ts'
import type { Request } from '../../http/request.ts'
import type { HttpResponse } from '../../http/response.ts'
import type { Check } from '../check.ts'
import { asset, document, problemOf, refused } from '../expectation.ts'
import { compareBytes } from '../finding.ts'
import type { Probe } from '../probe.ts'
import { assetType } from '../route.ts'

type Coding = 'br' | 'gzip' | undefined

/** An Accept-Encoding (RFC 9110 section 12.5.3), and the codings of which the contract requires one. */
const NEGOTIATIONS: readonly (readonly [accepts: string | undefined, codings: readonly Coding[]])[] = [
  [undefined, [undefined]],
  ['identity', [undefined]],
  ['br', ['br']],
  ['gzip', ['gzip']],
  ['gzip, deflate, br, zstd', ['br', 'gzip']],
  ['br;q=0, gzip', ['gzip']],
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
    roles: ['ssr'],
    run: (probe) =>
      eachAsset(probe, async (target) => {
        await probe.expect({ target: `${target}?v=1` }, asset(assetType(target)))
      }),
  },
  {
    name: 'every asset is the file that was built',
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
  {
    name: 'an asset comes in a coding that the client accepts',
    roles: ['ssr'],
    run: (probe) =>
      eachAsset(probe, async (target, body) => {
        for (const [accepts, codings] of NEGOTIATIONS) {
          const headers: Request['headers'] = accepts === undefined ? [] : [['accept-encoding', accepts]]
          const choices = codings.map((coding) => asset(assetType(target), coding))
          const response = await probe.expect({ target, headers }, choices)
          if (response?.status === 200) compareDecoded(probe, { target, headers }, response, body)
        }
      }),
  },
  {
    name: 'an unknown asset is 404, or 403 where it looks like an attack',
    roles: ['ssr'],
    async run(probe) {
      const [target = '/assets/x.js'] = await probe.subject.assets()
      const targets = [
        ...['/assets/', '/assets/x', '/assets/x.js', '/assets', '/assets/a/b', '/assets//x'],
        ...[`${target}/`, `${target}/x`, `${target}x`, `${target}%20`, `${target}.map`, upper(target)],
        ...['/assets/index.html', '/assets/.', '/assets/.gitkeep', '/assets/manifest.json', '/assets/*'],
      ]
      await probe.expectEach(targets, [problemOf(404), problemOf(403)])
    },
  },
  {
    name: 'no path leads out of the assets',
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
async function eachAsset(probe: Probe, use: (target: string, body: Buffer) => Promise<void>): Promise<void> {
  const targets = await probe.subject.assets()
  if (targets.length === 0)
    probe.report({ target: '/' }, { expected: 'assets in the page', received: 'none' })
  for (const target of targets) {
    const response = await probe.expect({ target }, asset(assetType(target)))
    if (response !== undefined) await use(target, response.body)
  }
}

function upper(target: string): string {
  return `/assets/${target.slice('/assets/'.length).toUpperCase()}`
}
