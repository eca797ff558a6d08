import { setTimeout as sleep } from 'node:timers/promises'
import { formatMegabytes } from '@startgrid/cli/numbers.ts'
import { currentMemory } from '@startgrid/machine/processes.ts'
import type { Target } from '@startgrid/wire/target.ts'
import { outcomeOf, send, watch } from '../clients.ts'
import { certain, type Finding, fine, found, untested } from '../finding.ts'
import type { Subject } from '../subject.ts'

/** Connections of each kind: fewer than 100 in all, where some servers stop to accept. */
const SENDERS = 30

/** What clients send at once; slow ones then send a byte per second, but for the first. */
export const KINDS = {
  nothing: () => '',
  'half a request': (path: string) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\nx-slow: `,
  'half a body': (path: string) =>
    `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 60000\r\n\r\na`,
} as const
type Kind = keyof typeof KINDS

/** Bytes by which one client may make memory grow, by reading nothing. */
const GROWTH = 100e6

/** Clients that send slowly hold nobody up. */
export async function trySenders(subject: Subject): Promise<Finding> {
  const all = Object.keys(KINDS) as Kind[]
  const together = await waitBeside(subject, all)
  const count = `${SENDERS * all.length} silent and half-sent connections`
  const { health } = subject.routes
  if (typeof together === 'number')
    return fine(`${count}: ${health} responds within ${Math.ceil(together)} ms`)
  for (const kind of all) {
    const alone = await waitBeside(subject, [kind])
    if (typeof alone === 'string')
      return found('hangs', `${health} gets ${alone} beside ${SENDERS} connections that send ${kind}`)
  }
  return found('hangs', `${health} gets ${together} beside ${count}`)
}

/** Opens connections of each kind, which are slow until they are closed. */
export function openSenders(target: Target, path: string, kinds: readonly Kind[]) {
  const open = (kind: Kind) => Array.from({ length: SENDERS }, () => send(target, KINDS[kind](path)))
  const sockets = kinds.flatMap(open)
  const begun = sockets.filter(({ bytesWritten }) => bytesWritten > 0)
  const drip = setInterval(() => {
    for (const socket of begun) socket.write('a')
  }, 1_000)
  return {
    sockets,
    close() {
      clearInterval(drip)
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** @returns the longest wait for health, or what came instead */
async function waitBeside(subject: Subject, kinds: readonly Kind[]): Promise<number | string> {
  const { upload, page } = subject.routes
  const server = await subject.start()
  let [usual, longest] = [0, 0]
  for (let asked = 0; asked < 5; asked++) usual = Math.max(usual, (await subject.probe(server)).ms)
  const opened = openSenders(server.target, (upload ?? page).path, kinds)
  // They ask for no work: a response may have no end.
  for (const socket of opened.sockets) socket.once('data', () => socket.pause())
  try {
    for (let asked = 0; asked < 6; asked++) {
      await sleep(400)
      const { seen, ms } = await subject.probe(server, { timeoutMs: Math.max(2_000, 20 * usual) })
      if (seen.error !== undefined) return outcomeOf(seen)
      longest = Math.max(longest, ms)
    }
    return longest
  } finally {
    opened.close()
  }
}

/** One that does not read is no burden. */
export async function tryReader(subject: Subject): Promise<Finding> {
  const { headers, download, stream } = subject.routes
  // What is shorter cannot grow by so much.
  const paths = [stream, download !== undefined && download.bytes > 10e6 ? download.path : undefined]
  let [longest, last] = download === undefined ? [0, 'nothing'] : [download.bytes, download.path]
  const { target, pids, whyEnded } = await subject.start()
  for (const path of new Set(paths.filter((one) => one !== undefined))) {
    const request = { target: path, headers }
    const before = currentMemory(pids()) ?? 0
    const socket = send(target, request).pause()
    let grown = 0
    for (let waited = 0; waited < 4_000 && grown < 4 * GROWTH; waited += 100) {
      await sleep(100)
      grown = Math.max(grown, (currentMemory(pids()) ?? 0) - before)
    }
    socket.destroy()
    const reason = whyEnded()
    const what = `while one client did not read ${path}`
    if (reason !== undefined) return certain('dies', `${what}: ${reason}`)
    if (grown > GROWTH) return found('grows', `+${formatMegabytes(grown)} MB ${what}`)
    const { bytes } = await watch(target, request, { ms: 3_000, bytes: 1.2 * GROWTH })
    if (bytes > longest) [longest, last] = [bytes, path]
  }
  if (longest > GROWTH) return fine(`memory grows by less than 100 MB while one client does not read ${last}`)
  const size = `${(longest / 1e6).toFixed(longest < 1e6 ? 3 : 0)} MB`
  return untested(`no response of over 100 MB, ${last} has ${size} (--path /export)`)
}
