import { setTimeout as sleep } from 'node:timers/promises'
import { formatMegabytes } from '@startgrid/cli/numbers.ts'
import { currentMemory } from '@startgrid/machine/processes.ts'
import { meanInterval } from '@startgrid/stats/estimate.ts'
import { hammer, watch } from '../clients.ts'
import { countFiles } from '../footprint.ts'
import type { Server } from '../routes.ts'
import {
  certain,
  confirmed,
  type Fault,
  type Finding,
  fine,
  found,
  type Subject,
  untested,
  warned,
} from '../subject.ts'

/** Requests before the first look: a runtime grows while it becomes warm. */
const WARM = { count: 8_000, ms: 8_000 }
const ROUND = { count: 2_500, ms: 2_500 }
const ROUNDS = 6

/** Bytes per request below which resident memory tells nothing in so short a time. */
const LEAST = 2_048

/** Bytes of a stream that are read, and the part of them that must not be in memory. */
const STREAM = { ms: 6_000, bytes: 400e6 }
const STREAM_LEAST = 100e6
const STREAM_PART = 0.5

/** What was served is forgotten. */
export const keep: Fault = {
  name: 'keep',
  atOnce: 2,
  async run(subject) {
    return [
      ...(await confirmed('memory', () => tryRequests(subject))),
      ...(await confirmed('stream memory', () => tryStream(subject))),
    ]
  },
}

async function tryRequests(subject: Subject): Promise<Finding[]> {
  const row = 'memory'
  const server = await subject.start()
  const { headers, pages } = subject.routes
  const requests = pages.map(({ path }) => ({ target: path, headers }))
  await hammer(server.target, requests, WARM)
  const files = countFiles(server.pids())
  let [rounds, sent] = [await look(server, requests), 0]
  // A cache fills once, and a heap grows for a while. What is kept of each request is kept for ever.
  for (let again = 0; again < 2 && isKept(rounds); again++) rounds = await look(server, requests)
  sent = rounds.reduce((sum, { count }) => sum + count, 0)
  const reason = server.whyEnded()
  if (reason !== undefined) return [certain(row, 'dies', `under ${sent} requests in turn: ${reason}`)]
  await sleep(300)
  const open = (countFiles(server.pids()) ?? 0) - (files ?? 0)
  if (open > sent / 50)
    return [found(row, 'keeps', `${open} more files or sockets are open after ${sent} requests`)]
  const { value, low, high } = intervalOf(rounds)
  if (low === null || high === null || Number.isNaN(value))
    return [untested(row, 'its memory cannot be read here')]
  const kB = (bytes: number) => (bytes / 1_024).toFixed(1)
  if (isKept(rounds))
    return [
      found(
        row,
        'keeps',
        `${kB(value)} KB (${kB(low)}–${kB(high)}) per request, in each of ${3 * ROUNDS} rounds of ${Math.round(sent / ROUNDS)}`,
      ),
    ]
  if (high > 4 * LEAST)
    return [
      warned(row, `undecided: ${kB(value)} KB (${kB(low)}–${kB(high)}) per request after ${sent} requests`),
    ]
  return [fine(row, `keeps at most ${kB(Math.max(high, LEAST))} KB per request (${sent} requests)`)]
}

interface Round {
  readonly bytes: number
  readonly count: number
}

async function look(server: Server, requests: readonly { target: string }[]): Promise<Round[]> {
  const rounds: Round[] = []
  let before = await memoryAtRest(server)
  for (let round = 0; round < ROUNDS; round++) {
    const count = await hammer(server.target, requests, ROUND)
    const after = await memoryAtRest(server)
    rounds.push({ bytes: after - before, count })
    before = after
  }
  return rounds
}

/** The least of some looks: what is about to be freed is not kept. */
async function memoryAtRest({ pids }: Server): Promise<number> {
  const looks: number[] = []
  for (let look = 0; look < 4; look++) {
    await sleep(50)
    looks.push(currentMemory(pids()) ?? Number.NaN)
  }
  return Math.min(...looks)
}

const intervalOf = (rounds: readonly Round[]) =>
  meanInterval(rounds.map(({ bytes, count }) => bytes / Math.max(1, count)))

function isKept(rounds: readonly Round[]): boolean {
  return (intervalOf(rounds).low ?? 0) > LEAST
}

/** What a long stream has sent is no longer needed. */
async function tryStream(subject: Subject): Promise<Finding[]> {
  const row = 'stream memory'
  const { headers, stream, download } = subject.routes
  const path = stream ?? (download !== undefined && download.bytes > 10e6 ? download.path : undefined)
  if (path === undefined) return [untested(row, 'no path that streams (--stream /path)')]
  const { target, pids } = await subject.start()
  const before = currentMemory(pids()) ?? 0
  let most = before
  const timer = setInterval(() => {
    most = Math.max(most, currentMemory(pids()) ?? 0)
  }, 100)
  const { bytes } = await watch(target, { target: path, headers }, STREAM).finally(() => clearInterval(timer))
  if (bytes < STREAM_LEAST) return [untested(row, `${path} sends less than 100 MB in ${STREAM.ms / 1_000} s`)]
  const grown = most - before
  const said = `+${formatMegabytes(grown)} MB while a client read ${formatMegabytes(bytes)} MB of ${path}`
  return [grown > STREAM_PART * bytes ? found(row, 'keeps', said) : fine(row, said)]
}
