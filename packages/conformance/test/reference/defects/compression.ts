import { gzipSync } from 'node:zlib'
import { headerValue } from '../../../src/http/header.ts'
import { type Behaviour, compress } from '../behaviour.ts'
import { replaceBody, replaceHeader } from '../message.ts'
import type { Defect } from './defect.ts'

const COMPRESSED = 'a proxy in front compresses the page if the client accepts gzip'
const COMPRESSED_STREAM = 'a compressed stream sends the shell before the slow part, too'

export const compression: readonly Defect[] = [
  proxied('pages are not compressed', COMPRESSED, (response) =>
    replaceHeader(response, 'vary', 'Accept-Encoding'),
  ),
  proxied('compressed pages without vary', COMPRESSED, (response, request) =>
    replaceHeader(compress(response, request), 'vary'),
  ),
  proxied('pages compressed for a client that refuses that', COMPRESSED, (response, request) =>
    compress(response, { ...request, headers: [['accept-encoding', 'gzip']] }),
  ),
  proxied('pages that only claim to be smaller', COMPRESSED, (response, request) => {
    const coded = compress(response, request)
    if (headerValue(coded.headers, 'content-encoding') === undefined || response.late) return coded
    return replaceBody(coded, gzipSync(response.body, { level: 0 }))
  }),
  proxied('a compressed page is another one', COMPRESSED, (response, request) => {
    const coded = compress(response, request)
    if (headerValue(coded.headers, 'content-encoding') === undefined || response.late) return coded
    return replaceBody(coded, gzipSync('<!doctype html>'))
  }),
  proxied('a compressed stream comes at the end', COMPRESSED_STREAM, (response, request) => {
    const { late, ...coded } = compress(response, request)
    if (late === undefined || headerValue(coded.headers, 'content-encoding') === undefined)
      return late === undefined ? coded : { ...coded, late }
    return { ...coded, body: Buffer.alloc(0), late: { ...late, parts: [coded.body, ...late.parts] } }
  }),
]

function proxied(name: string, check: string, proxy: Behaviour['proxy']): Defect {
  return { name, role: 'ssr', check, behaviour: { proxy }, compressed: true }
}
