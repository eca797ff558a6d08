import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { gzipSync } from 'node:zlib'
import compression from 'compression'
import { PAGES } from './pages.ts'

/** `server.ts plain`, `gzip` (by Node, for each request) or `prebuilt` (when it starts). With `CERTIFICATE` and `KEY`, over TLS. */
const { CERTIFICATE, KEY, SOCKET } = process.env
const role = process.argv[2]

const plain: RequestListener = ({ url = '' }, response) => {
  response.setHeader('content-type', 'text/html; charset=utf-8')
  response.end(PAGES[url])
}

/** The library leaves small bodies alone by default. */
const compress = compression({ threshold: 0 })
const gzip: RequestListener = (request, response) =>
  compress(request as never, response as never, () => plain(request, response))

const COMPRESSED = Object.fromEntries(Object.entries(PAGES).map(([path, body]) => [path, gzipSync(body)]))
const prebuilt: RequestListener = ({ url = '' }, response) => {
  response.setHeader('content-type', 'text/html; charset=utf-8')
  response.setHeader('content-encoding', 'gzip')
  response.setHeader('vary', 'Accept-Encoding')
  response.end(COMPRESSED[url])
}

const listener = { plain, gzip, prebuilt }[role ?? '']
if (listener === undefined) throw new Error(`There is no role ${role}.`)

// NGINX keeps its connections for 60 s, and a system waits for its turn for longer than Node's 5 s.
const options = { keepAliveTimeout: 65_000 }
const server =
  CERTIFICATE === undefined || KEY === undefined
    ? createServer(options, listener)
    : createSecureServer(
        {
          ...options,
          ...{ cert: readFileSync(CERTIFICATE), key: readFileSync(KEY) },
          // The same as in study.ts for NGINX: two builds of OpenSSL have two preferences.
          ...{ minVersion: 'TLSv1.3', ciphers: 'TLS_AES_128_GCM_SHA256', ecdhCurve: 'X25519' },
        },
        listener,
      )
await once(SOCKET === undefined ? server.listen(0, '127.0.0.1') : server.listen(SOCKET), 'listening')

const bound = server.address()
const origin = `${CERTIFICATE === undefined ? 'http' : 'https'}://127.0.0.1:${typeof bound === 'object' ? bound?.port : ''}`
const address = typeof bound === 'string' ? `unix:${bound}` : origin
// The launcher of the grid waits for this line.
console.log(JSON.stringify({ msg: 'listening', pid: process.pid, address }))
process.once('SIGTERM', () => process.exit())
