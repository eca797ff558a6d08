import { Agent, type ClientRequest, get, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { currentMemory, processTree } from '@startgrid/machine/processes.ts'
import { median } from '@startgrid/stats/moments.ts'
import type { Target } from '@startgrid/wire/target.ts'
import type { Figures, ProbeContext, System } from '../../src/model/experiment.ts'

/** What one client sees of a page whose last part is slow, and the memory that the server needs while 100 clients wait for that. */

/** Milliseconds that the slow part takes, when one client asks. */
export const SLOW_MS = 50

/** Pages that are open at the same time. Their slow part takes longer than the second until memory is read. */
const OPEN = 100
const LONG_MS = 5000

/** Pages before memory is read: until the heap has its size, any load makes it grow. */
const WARMING = { quick: 300, full: 3000 } as const
const ASKED = { quick: 5, full: 20 } as const

/**
 * @param pathOf the path by milliseconds of the slow part
 * @throws {Error} with a sentence, if it does not start or a response is wrong
 */
export async function measurePages(
  system: System,
  pathOf: (slowMs: number) => string,
  { quick, signal, start }: ProbeContext,
): Promise<Figures> {
  const effort = quick ? 'quick' : 'full'
  const others = new Set(processTree(process.pid))
  const { target, stop } = await start()
  const own = processTree(process.pid).filter((pid) => !others.has(pid))
  const agent = new Agent({ keepAlive: true, maxSockets: OPEN })
  const asked: ClientRequest[] = []
  const ask = (slowMs: number) => {
    const asking = askPage(target, pathOf(slowMs), agent)
    asked.push(asking.request)
    return asking
  }
  try {
    for (let done = 0; done < WARMING[effort]; done += OPEN) {
      signal.throwIfAborted()
      await Promise.all(Array.from({ length: OPEN }, () => ask(0).ended))
    }
    const pages: { first: number; last: number }[] = []
    for (let done = 0; done < ASKED[effort]; done++) pages.push(await ask(SLOW_MS).ended)
    const memory = system.nginx === undefined ? await openMany(own, () => ask(LONG_MS)) : {}
    return {
      'first-byte': median(pages.map(({ first }) => first)) / 1000,
      'last-byte': median(pages.map(({ last }) => last)) / 1000,
      ...memory,
    }
  } finally {
    for (const request of asked) request.destroy()
    agent.destroy()
    await stop()
  }
}

/** The server's memory before and while so many pages are open. */
async function openMany(pids: readonly number[], open: () => { ended: Promise<unknown> }): Promise<Figures> {
  const ready = currentMemory(pids)
  for (let count = 0; count < OPEN; count++) open().ended.catch(() => {})
  // All shells are rendered, and no slow part is there yet.
  await sleep(1000)
  const opened = currentMemory(pids)
  return ready && opened ? { 'ready-memory': ready, 'open-memory': opened } : {}
}

/** Milliseconds until the first and the last byte of the body. */
function askPage(target: Target, path: string, agent: Agent) {
  const { promise, resolve, reject } = Promise.withResolvers<{ first: number; last: number }>()
  const began = performance.now()
  const place = 'socketPath' in target ? target : { host: target.host, port: target.port }
  const request = get({ ...place, path, agent }, (response: IncomingMessage) => {
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
  return { request, ended: promise }
}
