import type { Header } from '../../http/header.ts'
import type { Request } from '../../http/request.ts'
import type { Check } from '../check.ts'
import { type Expectation, refused } from '../expectation.ts'
import type { Probe } from '../probe.ts'
import { plainRoute } from '../route.ts'

/** Bytes of the request line and the headers. */
const HEADER_LIMIT = 16 * 1024

const LARGE = 12 * 1024

/** Only a little more, because a server that closes with unread bytes resets the connection (RFC 9112 section 9.6). */
const TOO_LARGE = HEADER_LIMIT + 1024

/** Lines about the size of the header section, and about input that every parser rejects. */
export const limits: readonly Check[] = [
  {
    name: 'a header section of 12 KiB is read',
    async run(probe) {
      const { target, expected } = plainRoute(probe)
      await probe.expect({ target, headers: manyHeaders(LARGE) }, expected)
      await probe.expect({ target, headers: [['x-padding', 'a'.repeat(LARGE)]] }, expected)
    },
  },
  {
    name: 'a request line of 12 KiB is read',
    async run(probe) {
      const { target, expected } = plainRoute(probe)
      await probe.expect({ target: `${target}?x=${'a'.repeat(LARGE)}` }, expected)
    },
  },
  {
    name: 'a header section over 16 KiB is 431 or 414',
    async run(probe) {
      const { target } = plainRoute(probe)
      await expectRefused(probe, { target, headers: [['x-padding', 'a'.repeat(TOO_LARGE)]] })
      await expectRefused(probe, { target, headers: manyHeaders(TOO_LARGE) })
    },
  },
  {
    name: 'a request line over 16 KiB is 431 or 414',
    run: (probe) =>
      expectRefused(probe, { target: `${plainRoute(probe).target}?x=${'a'.repeat(TOO_LARGE)}` }),
  },
  {
    name: 'bytes that are not HTTP get 400 or a closed connection',
    async run(probe) {
      const garbage = [
        'GARBAGE\r\n\r\n',
        '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
        'GET /\x01 HTTP/1.1\r\n\r\n',
      ]
      for (const bytes of [...garbage, 'GET / HTTP/x.y\r\nhost: a\r\n\r\n'])
        await expectNoSuccess(probe, bytes)
      await probe.expect({ target: plainRoute(probe).target }, plainRoute(probe).expected)
    },
  },
]

/** Headers of about 100 bytes each. */
function manyHeaders(bytes: number): Header[] {
  return Array.from(
    { length: bytes / 100 },
    (_, index) => [`x-padding-${1000 + index}`, 'a'.repeat(82)] as const,
  )
}

async function expectRefused(probe: Probe, request: Request): Promise<void> {
  const choices: Expectation[] = [refused(431), refused(414)]
  await probe.attempt(request, () =>
    probe.despiteReset(async () => {
      probe.judge(request, await probe.connected((connection) => connection.exchange(request)), choices)
    }),
  )
}

/** Some parsers wait for more bytes before they reject. So the client ends its side. */
async function expectNoSuccess(probe: Probe, bytes: string): Promise<void> {
  await probe.connected(async (connection) => {
    await connection.send(Buffer.from(bytes, 'latin1'))
    connection.finish()
    const status = await connection.head().then(
      (head) => head.status,
      () => undefined,
    )
    // 505 if the parser finds something else in place of the version (RFC 9110 section 15.6.6).
    if (status === undefined || status === 400 || status === 505) return
    probe.report(JSON.stringify(bytes), {
      expected: 'status 400 or 505, or no response',
      received: `status ${status}`,
    })
  })
}
