import { setTimeout as sleep } from 'node:timers/promises'
import { formatMegabytes } from '@startgrid/cli/numbers.ts'
import { currentMemory } from '@startgrid/machine/processes.ts'
import { requestBytes } from '@startgrid/wire/request.ts'
import { authority, connect } from '@startgrid/wire/target.ts'
import { ask, outcomeOf, watch } from '../clients.ts'
import {
  certain,
  confirmed,
  type Fault,
  type Finding,
  fine,
  found,
  type Subject,
  untested,
} from '../subject.ts'

/** Connections of each kind: fewer than 100 in all, where some servers stop to accept. */
const SENDERS = 30

/** What they send at once; then a byte per second. */
const KINDS = {
  silent: () => '',
  'half a request': (path: string) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\nx-slow: `,
  'half a body': (path: string) =>
    `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 60000\r\n\r\na`,
} as const
type SenderKind = keyof typeof KINDS

/** Milliseconds in which health must respond beside slow senders, or this many times its own baseline. */
const HEALTH_MS = 2_000
const TIMES = 20

/** Bytes by which one client may make memory grow, by reading nothing for so many milliseconds. */
const GROWTH = 100e6
const READER_MS = 4_000

/** Clients that are slow hold nobody up, and are no burden. */
export const slow: Fault = {
  name: 'slow',
  atOnce: 3,
  async run(subject) {
    return [
      ...(await confirmed('slow senders', () => trySenders(subject))),
      ...(await confirmed('slow reader', () => tryReader(subject))),
    ]
  },
}

async function trySenders(subject: Subject): Promise<Finding[]> {
  const all = Object.keys(KINDS) as SenderKind[]
  const together = await waitBeside(subject, all)
  const total = SENDERS * all.length
  if (typeof together === 'number')
    return [
      fine(
        'slow senders',
        `${total} silent and half-sent connections: ${subject.routes.health} responds within ${Math.ceil(together)} ms`,
      ),
    ]
  for (const kind of all) {
    const alone = await waitBeside(subject, [kind])
    if (typeof alone === 'string')
      return [
        found(
          'slow senders',
          'hangs',
          `${alone} beside ${SENDERS} connections that send ${kind === 'silent' ? 'nothing' : kind}`,
        ),
      ]
  }
  return [found('slow senders', 'hangs', `${together} beside ${total} silent and half-sent connections`)]
}

/** @returns the longest wait for health, or what happens instead */
async function waitBeside(subject: Subject, kinds: readonly SenderKind[]): Promise<number | string> {
  const { headers, health, upload, pages } = subject.routes
  const { target } = await subject.start()
  const request = { target: health, headers }
  const time = async () => {
    const beganAt = performance.now()
    const seen = await ask(target, request, { timeoutMs: limit })
    return seen.error === undefined ? performance.now() - beganAt : `${health} gets ${outcomeOf(seen)}`
  }
  let limit = 30_000
  const alone: number[] = []
  for (let asked = 0; asked < 5; asked++) alone.push(Number(await time()))
  limit = Math.max(HEALTH_MS, TIMES * Math.max(...alone.filter(Number.isFinite)))
  const path = upload?.path ?? pages[0]?.path ?? '/'
  const sockets = kinds.flatMap((kind) =>
    Array.from({ length: SENDERS }, () => {
      const socket = connect(target)
        .on('error', () => {})
        .resume() // being cut off
      if (kind !== 'silent') socket.write(KINDS[kind](path))
      return socket
    }),
  )
  const drip = setInterval(() => {
    sockets.slice(SENDERS * Number(kinds.includes('silent'))).forEach((socket) => void socket.write('a'))
  }, 1_000)
  try {
    const waits: number[] = []
    for (let asked = 0; asked < 6; asked++) {
      await sleep(400)
      const wait = await time()
      if (typeof wait === 'string') return wait
      waits.push(wait)
    }
    return Math.max(...waits)
  } finally {
    clearInterval(drip)
    for (const socket of sockets) socket.destroy()
  }
}

async function tryReader(subject: Subject): Promise<Finding[]> {
  const { headers, download, stream } = subject.routes
  // What is shorter cannot grow by so much.
  const paths = [stream, download !== undefined && download.bytes > 10e6 ? download.path : undefined]
  let [longest, last] = download === undefined ? [0, 'nothing'] : [download.bytes, download.path]
  const { target, pids, whyEnded } = await subject.start()
  for (const path of new Set(paths.filter((one) => one !== undefined))) {
    const request = { target: path, headers }
    const before = currentMemory(pids()) ?? 0
    const socket = connect(target)
      .on('error', () => {})
      .pause()
    socket.write(requestBytes(request, authority(target)))
    let grown = 0
    for (let waited = 0; waited < READER_MS && grown < 4 * GROWTH; waited += 100) {
      await sleep(100)
      grown = Math.max(grown, (currentMemory(pids()) ?? 0) - before)
    }
    socket.destroy()
    const reason = whyEnded()
    if (reason !== undefined)
      return [certain('slow reader', 'dies', `while one client did not read ${path}: ${reason}`)]
    if (grown > GROWTH)
      return [
        found('slow reader', 'grows', `+${formatMegabytes(grown)} MB while one client did not read ${path}`),
      ]
    const { bytes } = await watch(target, request, { ms: 3_000, bytes: 1.2 * GROWTH })
    if (bytes > longest) [longest, last] = [bytes, path]
  }
  if (longest > GROWTH)
    return [fine('slow reader', `memory grows by less than 100 MB while one client does not read ${last}`)]
  const size = `${(longest / 1e6).toFixed(longest < 1e6 ? 3 : 0)} MB`
  return [untested('slow reader', `no response of over 100 MB, ${last} has ${size} (--path /export)`)]
}
