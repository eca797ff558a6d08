import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type { Response } from '@startgrid/wire/reader.ts'
import { headerValue, type Request } from '@startgrid/wire/request.ts'
import { asset, problem } from '../expectation.ts'
import { compareBytes, differ } from '../finding.ts'
import type { Check, Probe } from '../probe.ts'
import { assetType } from '../route.ts'

/** An Accept-Encoding (RFC 9110 section 12.5.3), and which codings are right. */
const NEGOTIATIONS: readonly (readonly [accepts: string, coding?: RegExp])[] = [
  ['identity'],
  ['br', /^br$/],
  ['gzip', /^gzip$/],
  ['gzip, deflate, br, zstd', /^(?:br|gzip)$/],
  ['br;q=0, gzip', /^gzip$/],
]

/** Attempts to read other files than the hashed ones. */
const TRAVERSALS = [
  ...['../package.json', '%2e%2e%2fpackage.json', '%2e%2e/package.json', '..%2fpackage.json'],
  ...['..%5cpackage.json', '%252e%252e%252fpackage.json', '....//package.json', '../page/server.js'],
  ...['../../../../../../../etc/passwd', '%2fetc%2fpasswd', '//etc/passwd', '.%2e/%2e./etc/passwd'],
]

/** Lines about `/assets/*`, for ssr. */
export const assets: readonly Check[] = [
  {
    name: 'every asset has its type and may be kept',
    run: (probe) =>
      eachAsset(probe, async (target) => {
        await probe.expect({ target: `${target}?v=1` }, asset(assetType(target)))
      }),
  },
  {
    name: 'every asset is the file that was built',
    run: (probe) =>
      eachAsset(probe, async (target, body) => {
        const { ASSETS_DIR } = await import('@startgrid/shared/page/server.js')
        const built = await readFile(new URL(basename(target), ASSETS_DIR)).catch(() => undefined)
        const found = built ? compareBytes(built, body) : differ('a file of the build', 'another file')
        probe.report({ target }, found)
      }),
  },
  {
    name: 'an asset comes in a coding that the client accepts',
    run: (probe) =>
      eachAsset(probe, async (target, body) => {
        for (const [accepts, coding] of NEGOTIATIONS) {
          const request: Request = { target, headers: [['accept-encoding', accepts]] }
          const response = await probe.expect(request, asset(assetType(target), coding))
          if (response?.status === 200) compareDecoded(probe, request, response, body)
          const received = response && headerValue(response.headers, 'content-encoding')
          if (coding === undefined && received !== undefined)
            probe.report(request, differ('no content-encoding', received))
        }
      }),
  },
  {
    name: 'an unknown asset is 404',
    run: (probe) =>
      probe.expectEach(['/assets/x', '/assets/x.js', '/assets/a/b', '/assets/manifest.json'], problem(404)),
  },
  {
    name: 'no path leads out of the assets',
    async run(probe) {
      for (const path of TRAVERSALS) {
        const request = { target: `/assets/${path}` }
        const response = await probe.attempt(request, () => probe.connected((own) => own.exchange(request)))
        const { status = 404 } = response ?? {}
        if (status < 300 || status >= 500) probe.report(request, differ('a 4xx', `status ${status}`))
      }
    },
  },
]

/** The decoded body must equal the file. */
function compareDecoded(probe: Probe, request: Request, response: Response, body: Buffer): void {
  const coding = headerValue(response.headers, 'content-encoding')
  try {
    probe.report(request, compareBytes(body, decode(response.body, coding)))
  } catch {
    probe.report(request, differ(`a body in ${coding}`, 'bytes that cannot be decoded'))
  }
}

function decode(body: Buffer, coding: string | undefined): Buffer {
  if (coding === 'br') return brotliDecompressSync(body)
  return coding === 'gzip' ? gunzipSync(body) : body
}

/** Runs for every asset with its bytes; a page without assets is a difference. */
async function eachAsset(probe: Probe, use: (target: string, body: Buffer) => Promise<void>): Promise<void> {
  const targets = await probe.subject.assets()
  if (targets.length === 0) probe.report({ target: '/' }, differ('assets in the page', 'none'))
  for (const target of targets) {
    const response = await probe.expect({ target }, asset(assetType(target)))
    if (response !== undefined) await use(target, response.body)
  }
}
