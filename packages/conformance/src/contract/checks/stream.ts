import { constants, gunzipSync } from 'node:zlib'
import { PRODUCTS, product } from '@startgrid/shared/page/shop/product.ts'
import { ask } from '@startgrid/wire/client.ts'
import type { Fragment, Response } from '@startgrid/wire/reader.ts'
import type { Request } from '@startgrid/wire/request.ts'
import { document } from '../expectation.ts'
import { compareBytes, differ, type Finding } from '../finding.ts'
import { assembleStream, productNames, withoutSecrets } from '../markup.ts'
import type { Check, Probe } from '../probe.ts'

const ITEMS = 3
const DEFAULT_DELAY = 50
const DELAY = 300

/** A server's timers may fire early by their resolution. */
const EARLY_MS = 5

/** On a busy machine, the shell may arrive together with the rest. */
const ATTEMPTS = 3

/** Lines about `/stream`, for an ssr app that has it. */
export const stream: readonly Check[] = [
  {
    name: 'the stream sends the shell before the slow part',
    async run(probe) {
      const request = { target: `/stream?items=${ITEMS}&delay=${DELAY}` }
      await expectOrder(probe, request, () => probe.expect(request, document(ITEMS)))
    },
  },
  {
    name: 'a compressed stream sends the shell before the slow part, too',
    needsCompression: true,
    async run(probe) {
      const request: Request = {
        target: `/stream?items=${ITEMS}&delay=${DELAY}`,
        headers: [['accept-encoding', 'gzip']],
      }
      const exchange = () => ask(probe.subject.target, request, probe.subject)
      await expectOrder(probe, request, () => probe.attempt(request, exchange), decodeStart)
    },
  },
  {
    name: 'the slow part comes after the delay',
    async run(probe) {
      await expectDelay(probe, `/stream?items=${ITEMS}&delay=200`, 200)
      await expectDelay(probe, `/stream?items=${ITEMS}`, DEFAULT_DELAY)
    },
  },
  {
    name: 'the stream adds up to the document',
    async run(probe) {
      for (const items of [0, ITEMS, 200]) {
        const whole = await probe.expect({ target: `/?items=${items}` }, document(items))
        for (const delay of [0, 1, 50]) {
          const request = { target: `/stream?items=${items}&delay=${delay}` }
          const response = await probe.expect(request, document(items))
          if (whole && response) probe.report(request, compareBytes(anonymous(whole), anonymous(response)))
        }
      }
    },
  },
]

async function expectOrder(
  probe: Probe,
  request: Request,
  exchange: () => Promise<Response | undefined>,
  decode?: (bytes: Buffer) => Buffer,
): Promise<void> {
  let findings: Finding[] = []
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    findings = judgeOrder((await exchange())?.fragments, decode)
    if (findings.length === 0) return
  }
  probe.report(request, findings)
}

/** Bytes that came well before the end must be the shell with all products. The last bytes must be the recommendations. */
function judgeOrder(
  fragments: readonly Fragment[] | undefined,
  decode = (bytes: Buffer) => bytes,
): Finding[] {
  // That there was no response is told already.
  if (fragments === undefined) return []
  const end = fragments.at(-1)?.at ?? 0
  const parts = fragments.filter(({ at }) => at < end - DELAY / 2).map(({ bytes }) => bytes)
  const early = decode(Buffer.concat(parts)).toString('utf8')
  const slow = product((ITEMS + 3) % PRODUCTS).name
  if (productNames(early).length !== ITEMS)
    return differ('the shell with all products before the slow part', 'everything at the end')
  if (!early.includes(slow)) return []
  return differ(`the slow part (${slow}) after the delay`, 'it came with the shell')
}

/** What can be decoded of the first part of a gzip stream. */
function decodeStart(bytes: Buffer): Buffer {
  return gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH })
}

/** Only a lower bound, because a late response is still correct. */
async function expectDelay(probe: Probe, target: string, delay: number): Promise<void> {
  const start = performance.now()
  const response = await probe.expect({ target }, document(ITEMS))
  const end = response?.fragments.at(-1)?.at ?? Number.POSITIVE_INFINITY
  if (end - start >= delay - EARLY_MS) return
  const received = `the end after ${Math.round(end - start)} ms`
  probe.report({ target }, differ(`the end of the document after ${delay} ms`, received))
}

function anonymous(response: Response): Buffer {
  return Buffer.from(assembleStream(withoutSecrets(response)))
}
