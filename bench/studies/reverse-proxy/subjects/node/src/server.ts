import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import compression from 'compression'

/** `server.ts plain`, or `gzip` by Node for each request. With `CERTIFICATE` and `KEY`, over TLS. */
const { CERTIFICATE, KEY } = process.env
const role = process.argv[2]

const page = readFileSync(new URL('../page.html', import.meta.url))

const plain: RequestListener = (_request, response) => {
  response.setHeader('content-type', 'text/html; charset=utf-8')
  response.end(page)
}

/** The library leaves small bodies alone by default. */
const compress = compression({ threshold: 0 })
const gzip: RequestListener = (request, response) =>
  compress(request as never, response as never, () => plain(request, response))

const listener = { plain, gzip }[role ?? '']
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
await once(server.listen(0, '127.0.0.1'), 'listening')

const { port } = server.address() as AddressInfo
const address = `${CERTIFICATE === undefined ? 'http' : 'https'}://127.0.0.1:${port}`
// The launcher of the grid waits for this line.
console.log(JSON.stringify({ msg: 'listening', pid: process.pid, address }))
process.once('SIGTERM', () => process.exit())
