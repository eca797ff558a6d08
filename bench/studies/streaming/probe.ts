import { Agent, get, type IncomingMessage } from 'node:http'
import { median } from '@startgrid/stats/moments.ts'
import type { Target } from '@startgrid/wire/target.ts'
import type { Figures, ProbeContext } from '../../src/result/experiment.ts'

/** What one client sees of a page whose last part is slow. */

/** Pages at the same time, before any is measured. */
const TOGETHER = 100
const WARMING = { quick: 300, full: 3000 } as const
const ASKED = { quick: 5, full: 20 } as const

/**
 * Seconds until the first and the last byte of the page: medians.
 * @param pathOf the path by milliseconds of the slow part
 * @param slowMs of the pages that are measured
 * @throws {Error} with a sentence, if it does not start or a response is wrong
 */
export async function measurePages(
  pathOf: (slowMs: number) => string,
  slowMs: number,
  { quick, signal, start }: ProbeContext,
): Promise<Figures> {
  const effort = quick ? 'quick' : 'full'
  const { target, stop } = await start()
  const agent = new Agent({ keepAlive: true, maxSockets: TOGETHER })
  try {
    for (let done = 0; done < WARMING[effort]; done += TOGETHER) {
      signal.throwIfAborted()
      await Promise.all(Array.from({ length: TOGETHER }, () => askPage(target, pathOf(0), agent)))
    }
    const pages: { first: number; last: number }[] = []
    for (let done = 0; done < ASKED[effort]; done++) pages.push(await askPage(target, pathOf(slowMs), agent))
    return {
      'first-byte': median(pages.map(({ first }) => first)) / 1000,
      'last-byte': median(pages.map(({ last }) => last)) / 1000,
    }
  } finally {
    agent.destroy()
    await stop()
  }
}

/** Milliseconds until the first and the last byte of the body. */
function askPage(target: Target, path: string, agent: Agent): Promise<{ first: number; last: number }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ first: number; last: number }>()
  const began = performance.now()
  const place = 'socketPath' in target ? target : { host: target.host, port: target.port }
  get({ ...place, path, agent }, (response: IncomingMessage) => {
    let first: number | undefined
    let end = ''
    response.setEncoding('utf8').on('data', (chunk: string) => {
      first ??= performance.now() - began
      end = (end + chunk).slice(-20)
    })
    response.once('error', reject).once('end', () => {
      if (response.statusCode === 200 && first !== undefined && end.includes('</html>'))
        resolve({ first, last: performance.now() - began })
      else reject(new Error(`${path} gave status ${response.statusCode} or no whole page`))
    })
  }).once('error', reject)
  return promise
}
