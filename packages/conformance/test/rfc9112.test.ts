import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { test } from 'node:test'
import { serve } from '@startgrid/shared/testing/app.ts'
import { targetOf } from '@startgrid/wire/target.ts'
import { FORMS } from '../src/protocol/forms.ts'
import { checkRfc9112 } from '../src/protocol/rfc9112.ts'

async function findingsOf(server: Server, forms = FORMS): Promise<string[]> {
  await using app = await serve(server)
  return (await checkRfc9112(targetOf(new URL(app.url)), forms)).findings
}

function idOf({ headers }: IncomingMessage): string {
  return String(headers['x-request-id'])
}

const notFound: RequestListener = (request, response) =>
  response.writeHead(404, { 'x-request-id': idOf(request), 'content-length': 0 }).end()

test('a lenient parser is found, form by form', async () => {
  const lenient = createServer({ insecureHTTPParser: true, requireHostHeader: false }, notFound)
  // Others make it wait for bytes that never come, which takes as long as the check is patient.
  const names = ['no Host', 'two Hosts', 'chunked, then Content-Length', 'chunked in HTTP/1.0']
  const forms = FORMS.filter(({ name }) => names.includes(name))
  assert.deepEqual(await findingsOf(lenient, forms), [
    'RFC 9112 3.2, no Host: 404, 404, and reads on instead of 400.',
    'RFC 9112 3.2, two Hosts: 404, 404, and reads on instead of 400.',
    'RFC 9112 6.1, chunked, then Content-Length: 404, 404, and reads on instead of the end of the connection.',
    'RFC 9112 6.1, chunked in HTTP/1.0: 404, 404, and reads on instead of the end of the connection.',
  ])
})

test('a refusal that does not say connection: close is found, because NGINX would reuse the connection', async () => {
  const server = createServer(notFound).on('clientError', (_, socket) =>
    socket.end('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n'),
  )
  const findings = await findingsOf(server)
  const form = 'RFC 9112 6.3, Content-Length in hex: 400, closed instead of 400, connection: close, closed.'
  assert.ok(findings.includes(form), findings.join('\n'))
})

test('a 404 with another id comes from no handler that was asked', async () => {
  const server = createServer((request, response) => {
    if (idOf(request).endsWith('-behind')) return notFound(request, response)
    response.writeHead(404, { 'x-request-id': 'another', 'content-length': 0 }).end()
  })
  const findings = await findingsOf(server)
  const form = 'RFC 9112 6.3, a plain Content-Length: 404, 404, and reads on instead of a response to both.'
  assert.ok(findings.includes(form), findings.join('\n'))
})
