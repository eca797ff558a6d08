import { equal, rejects } from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, createServer, request } from 'node:http'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { readBody } from '../../src/http/body.ts'
import { describeError } from '../../src/http/problem.ts'
import { BODY_LIMIT } from '../../src/http/validate-request.ts'

const TOO_LARGE = { name: 'HttpProblem', status: 413 }

test('joins the chunks of a Node or a web stream', async () => {
  const chunks = () => Readable.from([Buffer.from('a'), Buffer.from('b')])
  equal((await readBody(chunks())).toString(), 'ab')
  equal((await readBody(Readable.toWeb(chunks()))).toString(), 'ab')
  equal((await readBody(Readable.from([]))).length, 0)
})

test('refuses one byte over the limit', async () => {
  const stream = (bytes: number) => Readable.from([Buffer.alloc(bytes - 1), Buffer.alloc(1)])
  equal((await readBody(stream(BODY_LIMIT))).length, BODY_LIMIT)
  await rejects(readBody(stream(BODY_LIMIT + 1)), TOO_LARGE)
  equal((await readBody(stream(3), 3)).length, 3)
  await rejects(readBody(stream(4), 3), TOO_LARGE)
})

test('does not read on', async () => {
  let taken = 0
  async function* endless() {
    for (;;) {
      taken += 1
      yield Buffer.alloc(10)
    }
  }
  await rejects(readBody(endless(), 100), TOO_LARGE)
  equal(taken, 11)
})

test('a refused request keeps its connection, for the response and the next request', {
  timeout: 120_000,
}, async () => {
  const server = createServer((incoming, outgoing) => {
    readBody(incoming).then(
      (body) => outgoing.end(String(body.length)),
      (error) => outgoing.writeHead(describeError(error).status).end(),
    )
  }).listen(0)
  await once(server, 'listening')
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const ports = new Set<number | undefined>()
  const post = async (bytes: number) => {
    const address = server.address()
    const sent = request({
      agent,
      method: 'POST',
      port: typeof address === 'object' ? address?.port : undefined,
    })
    // Chunked, as no length was said.
    Readable.from([Buffer.alloc(bytes), Buffer.alloc(1)]).pipe(sent)
    const [response] = await once(sent, 'response')
    ports.add(sent.socket?.localPort)
    return [response.statusCode, await text(response)].join(' ')
  }
  equal(await post(1_000_000), '413 ')
  equal(await post(9), '200 10')
  equal(ports.size, 1)
  agent.destroy()
  server.close()
})
