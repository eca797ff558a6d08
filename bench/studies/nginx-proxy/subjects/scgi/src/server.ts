import { once } from 'node:events'
import { createServer, STATUS_CODES } from 'node:http'
import { createServer as createSocketServer, type Server, type Socket } from 'node:net'
import { createProblem, PROBLEM } from '@startgrid/shared/problem.ts'
import { requestId } from '@startgrid/shared/request-id.ts'
import { SECURITY_HEADERS } from '@startgrid/shared/security.ts'

/**
 * `SOCKET=/run/app.sock server.ts scgi`, or `http`: the same handler, once behind NGINX's `scgi_pass` and once on node:http behind `proxy_pass`.
 * Both have a connection per request, so they differ in who has parsed HTTP.
 */
const { SOCKET } = process.env
const role = process.argv[2] ?? ''

/** `GET /json` of the hello app, with its headers and its id. */
function respond(method: string | undefined, url: string | undefined, inboundId: unknown) {
  const isFound = method === 'GET' && url === '/json'
  const body = JSON.stringify(isFound ? { hello: 'world' } : createProblem(404))
  const headers = {
    ...SECURITY_HEADERS,
    'x-request-id': requestId(inboundId),
    'content-type': isFound ? 'application/json; charset=utf-8' : PROBLEM,
    'content-length': String(Buffer.byteLength(body)),
  }
  return { status: isFound ? 200 : 404, headers, body }
}

const http = () =>
  createServer(({ method, url, headers: { 'x-request-id': id } }, response) => {
    const { status, headers, body } = respond(method, url, id)
    response.writeHead(status, headers).end(body)
  })

const scgi = () =>
  createSocketServer((socket) => {
    let received = ''
    socket.setEncoding('latin1').on('error', () => {}) // NGINX has left
    socket.on('data', (text) => {
      received += text
      const variables = parseHeader(received)
      if (variables !== undefined) answer(socket, variables)
    })
  })

/**
 * The variables of a request: `70:CONTENT_LENGTH\0000\0SCGI\0001\0REQUEST_METHOD\000GET\0…,` (https://python.ca/scgi/protocol.txt). A body, which would follow, is
 * not read.
 * @returns undefined while they are not all there
 */
function parseHeader(text: string): Map<string, string> | undefined {
  const colon = text.indexOf(':')
  const end = colon + 1 + Number(text.slice(0, colon))
  if (colon === -1 || text.length <= end) return undefined
  const words = text.slice(colon + 1, end).split('\0')
  const variables = new Map<string, string>()
  for (let index = 0; index + 1 < words.length; index += 2)
    variables.set(words[index] ?? '', words[index + 1] ?? '')
  return variables
}

function answer(socket: Socket, variables: ReadonlyMap<string, string>): void {
  const [method, uri, id] = ['REQUEST_METHOD', 'REQUEST_URI', 'HTTP_X_REQUEST_ID'].map((name) =>
    variables.get(name),
  )
  const { status, headers, body } = respond(method, uri, id)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`Status: ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
}

const servers: Record<string, () => Server> = { http, scgi }
const create = servers[role]
if (create === undefined || SOCKET === undefined) throw new Error('Say SOCKET=PATH server.ts scgi, or http.')
await once(create().listen(SOCKET), 'listening')
// The launcher of the grid waits for this line.
console.log(JSON.stringify({ msg: 'listening', pid: process.pid, address: `unix:${SOCKET}` }))
process.once('SIGTERM', () => process.exit())
