import cluster from 'node:cluster'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import compression from 'compression'

/** `server.ts plain`, or `gzip` by Node for each request. With `CERTIFICATE` and `KEY`, over TLS. With `WORKERS`, so many by node:cluster. */
const { CERTIFICATE, KEY, WORKERS } = process.env
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
          cert: readFileSync(CERTIFICATE),
          key: readFileSync(KEY),
          // The same as in study.ts for NGINX: two builds of OpenSSL have two preferences.
          minVersion: 'TLSv1.3',
          ciphers: 'TLS_AES_128_GCM_SHA256',
          ecdhCurve: 'X25519',
        },
        listener,
      )

if (WORKERS !== undefined && cluster.isPrimary) {
  const workers = Array.from({ length: Number(WORKERS) }, () => cluster.fork())
  const addresses = await Promise.all(workers.map((worker) => once(worker, 'listening')))
  tell(addresses[0]?.[0].port)
} else {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  if (cluster.isPrimary) tell((server.address() as AddressInfo).port)
}
process.once('SIGTERM', () => process.exit())

/** The launcher of the grid waits for this line. */
function tell(port: number): void {
  const address = `${CERTIFICATE === undefined ? 'http' : 'https'}://127.0.0.1:${port}`
  console.log(JSON.stringify({ msg: 'listening', pid: process.pid, address }))
}
