import { decodeName, header, onAssets, onHeader, onStatus, withStatus } from '../alterations.ts'
import { CORRECT } from '../behaviour.ts'
import { type Outgoing, replaceBody, replaceHeader } from '../message.ts'
import { type Defect, ssr } from './defect.ts'

const TYPES = 'every asset has its type and may be kept'
const NEGOTIATED = 'an asset comes in a coding that the client accepts'
const MODIFIED = 'an asset that the client has is 304, or comes once more'
const RANGE = 'a range gets the whole asset, or the part that content-range names'
const UNMODIFIED = 'an asset that the client has not is 200'

export const assets: readonly Defect[] = [
  ssr('gzip where only br is accepted', NEGOTIATED, {
    negotiate: (accepted) => (accepted === 'br' ? 'gzip' : CORRECT.negotiate(accepted)),
  }),
  ssr('304 for a date without last-modified', 'a date is a validator only where the asset has one', {
    finish: (a, r) => (r.headers.some(([name]) => name === 'if-modified-since') ? { ...a, status: 304 } : a),
  }),
  ssr('304 for an early date', 'a date is a validator only where the asset has one', {
    finish: (a, r) => {
      const dated = a.status === 200 && r.target.startsWith('/assets/')
      if (r.headers.some(([, value]) => value.includes('1970'))) return { ...a, status: 304 }
      return dated ? replaceHeader(a, 'last-modified', new Date(0).toUTCString()) : a
    },
  }),
  ssr('last-modified in another format', TYPES, onAssets(header('last-modified', '2026-01-01T00:00:00Z'))),
  ssr('another part than asked for', RANGE, onHeader('bytes=0-9', part(1))),
  ssr('206 without content-range', RANGE, onHeader('bytes=0-', withStatus(206))),
  ssr('a part of another version', RANGE, onHeader('"another"', part(0))),
  ssr('500 for a range that is not valid', RANGE, onHeader('bytes=99999999-', withStatus(500))),
  ssr('text instead of its type', TYPES, onAssets(header('content-type', 'text/plain; charset=utf-8'))),
  ssr('assets not immutable', TYPES, onAssets(header('cache-control', 'public, max-age=0'))),
  ssr(
    'assets that no shared cache may keep',
    TYPES,
    onAssets(header('cache-control', 'private, max-age=31536000, immutable')),
  ),
  ssr('an etag without quotes', TYPES, { etag: () => 'abc' }),
  ssr('no vary', NEGOTIATED, onAssets(header('vary'))),
  ssr(
    'other bytes',
    'every asset is the file that was built',
    onAssets((a) => replaceBody(a, Buffer.concat([a.body, Buffer.from(' ')]))),
  ),
  ssr('br in brotli', NEGOTIATED, {
    negotiate: (accepted = '') => (/br/.test(accepted) ? 'br' : CORRECT.negotiate(accepted)),
  }),
  ssr('br without being asked', NEGOTIATED, { negotiate: (accepted) => CORRECT.negotiate(accepted ?? 'br') }),
  ssr('bytes that are not br', NEGOTIATED, { finish: (a) => (isCoded(a) ? replaceBody(a, 'no brotli') : a) }),
  ssr('br of another file', NEGOTIATED, {
    finish: (a) => (isCoded(a) ? replaceBody(a, Buffer.from([0x3b])) : a),
  }),
  ssr('q=0.000 ignored', 'a coding with q=0 is not accepted', {
    negotiate: (accepted = '') => CORRECT.negotiate(accepted.replaceAll('q=0.000', 'q=1')),
  }),
  ssr('one etag for all codings', 'each coding of an asset has an etag of its own', { etag: () => 'W/"1"' }),
  ssr('304 with content-length', MODIFIED, onStatus(304, header('content-length', '0'))),
  ssr('another etag to a client that has the asset', MODIFIED, {
    finish: (a, r) =>
      r.headers.some(([name]) => name === 'if-none-match') && a.status === 304
        ? replaceHeader(a, 'etag', '"x"')
        : a,
  }),
  ssr('304 without cache-control', MODIFIED, onStatus(304, header('cache-control'))),
  ssr('304 without the security headers', MODIFIED, onStatus(304, header('referrer-policy'))),
  ssr('304 for a part of the etag', UNMODIFIED, {
    matches: (condition, etag) => etag.includes(condition.slice(0, -1)),
  }),
  ssr('an index of the directory', 'the directory of the assets is 404 or 403', {
    path: (t) => (t === '/assets/' ? '/' : CORRECT.path(t)),
  }),
  ssr(
    'a refusal that says to be in br',
    'another method on an asset is refused in no coding',
    onStatus(405, header('content-encoding', 'br')),
  ),
  ssr(
    'a 404 that is cached',
    'an unknown asset is 404, or 403 where it looks like an attack',
    onStatus(404, header('cache-control', 'public, max-age=31536000, immutable')),
  ),
  ssr('a way out', 'no path leads out of the assets', {
    asset: (name) => (decodeName(name).includes('../') ? `./${decodeName(name)}` : name),
  }),
]

/** Ten bytes from here, said to be the first ten. */
function part(from: number): (response: Outgoing) => Outgoing {
  return ({ body, ...response }) => {
    const ten = replaceBody({ ...response, body }, body.subarray(from, from + 10))
    return { ...replaceHeader(ten, 'content-range', `bytes 0-9/${body.length}`), status: 206 }
  }
}

function isCoded({ headers, status }: Outgoing): boolean {
  return status === 200 && headers.some(([, value]) => value === 'br')
}
