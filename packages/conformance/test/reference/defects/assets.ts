import { decodeName, header, onAssets, onStatus } from '../alterations.ts'
import { CORRECT } from '../behaviour.ts'
import { type Outgoing, replaceBody } from '../message.ts'
import { type Defect, ssr } from './defect.ts'

const TYPES = 'every asset has its type and may be kept'
const NEGOTIATED = 'an asset comes in a coding that the client accepts'
const UNKNOWN = 'an unknown asset is 404, or 403 where it looks like an attack'

export const assets: readonly Defect[] = [
  ssr('text instead of its type', TYPES, onAssets(header('content-type', 'text/plain; charset=utf-8'))),
  ssr('assets not immutable', TYPES, onAssets(header('cache-control', 'public, max-age=0'))),
  ssr(
    'assets that no shared cache may keep',
    TYPES,
    onAssets(header('cache-control', 'private, max-age=31536000, immutable')),
  ),
  ssr(
    'other bytes',
    'every asset is the file that was built',
    onAssets((a) => replaceBody(a, Buffer.concat([a.body, Buffer.from(' ')]))),
  ),
  ssr('gzip where only br is accepted', NEGOTIATED, {
    negotiate: (accepted) => (accepted === 'br' ? 'gzip' : CORRECT.negotiate(accepted)),
  }),
  ssr('no vary', NEGOTIATED, onAssets(header('vary'))),
  ssr('br without being asked', NEGOTIATED, { negotiate: (accepted) => CORRECT.negotiate(accepted ?? 'br') }),
  ssr('bytes that are not br', NEGOTIATED, { finish: (a) => (isCoded(a) ? replaceBody(a, 'no brotli') : a) }),
  ssr('br of another file', NEGOTIATED, {
    finish: (a) => (isCoded(a) ? replaceBody(a, Buffer.from([0x3b])) : a),
  }),
  ssr('q=0 ignored', NEGOTIATED, {
    negotiate: (accepted = '') => CORRECT.negotiate(accepted.replaceAll('q=0', 'q=1')),
  }),
  ssr('an index of the directory', UNKNOWN, {
    path: (t) => (t === '/assets/' ? '/' : CORRECT.path(t)),
  }),
  ssr(
    'a 404 that is cached',
    UNKNOWN,
    onStatus(404, header('cache-control', 'public, max-age=31536000, immutable')),
  ),
  ssr('a way out', 'no path leads out of the assets', {
    asset: (name) => (decodeName(name).includes('../') ? `./${decodeName(name)}` : name),
  }),
]

function isCoded({ headers, status }: Outgoing): boolean {
  return status === 200 && headers.some(([, value]) => value === 'br')
}
