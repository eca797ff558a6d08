import { setTimeout as sleep } from 'node:timers/promises'
import { requestBytes } from '@startgrid/wire/request.ts'
import { authority, connect, type Target } from '@startgrid/wire/target.ts'
import { ask, leave, outcomeOf } from '../clients.ts'
import { countFiles } from '../footprint.ts'
import { type Server, uploadOf } from '../routes.ts'
import { certain, type Fault, type Finding, fine, type Subject, untested } from '../subject.ts'

/** Clients that leave in one way before files are counted, and the files of these that must stay open, twice in a row, for a finding. */
const LEAVING = 20
const KEPT = 10

/** A way to leave. */
interface Way {
  readonly what: string
  go(target: Target, resets: boolean): Promise<void>
}

/** Clients that leave at any moment cost a server nothing that lasts. */
export const abort: Fault = {
  name: 'abort',
  atOnce: 3,
  async run(subject) {
    const { upload } = subject.routes
    return [
      await judge(subject, 'abort', waysOf(subject)),
      upload === undefined
        ? untested('upload', 'no path that takes one (--upload /path)')
        : await judge(subject, 'upload', [
            {
              what: `uploads to ${upload.path}`,
              go: (target, resets) => leaveUpload(subject, target, resets),
            },
          ]),
    ]
  },
}

function waysOf({ routes: { headers, pages, download, stream, slow } }: Subject): Way[] {
  const way = (what: string, path: string, sawBytes: boolean): Way => {
    const go = (target: Target, resets: boolean) =>
      leave(target, requestBytes({ target: path, headers }, authority(target)), { sawBytes, resets })
    return { what: `requests of ${path} that were left ${what}`, go }
  }
  const page = pages[0]?.path ?? '/'
  return [
    way('before the response', page, false),
    way('amid the response', download?.path ?? page, true),
    ...(slow === undefined ? [] : [way('before the response', slow.path, false)]),
    ...(stream === undefined ? [] : [way('amid the stream', stream, true)]),
  ]
}

async function judge(subject: Subject, row: string, ways: readonly Way[]): Promise<Finding> {
  const server = await subject.start()
  const { target } = server
  const { health } = subject.routes
  for (const { what, go } of ways) {
    const open = [await settle(server, await rest(subject, server))]
    for (let batch = 0; batch < 2; batch++) {
      for (let left = 0; left < LEAVING; left++) {
        // A client that finds nobody has not left.
        await go(target, left % 2 === 0).catch(() => {})
        if (left % 4 === 3) await sleep(10)
      }
      open.push(await settle(server, (open.at(-1) ?? 0) + 1))
      // What nobody catches may end it a moment later.
      if (server.whyEnded() === undefined) await sleep(200)
      const reason = server.whyEnded()
      if (reason !== undefined)
        return certain(row, 'dies', `after at most ${(batch + 1) * LEAVING} ${what}: ${reason}`)
    }
    const [first = 0, second = 0, third = 0] = open
    if (second - first >= KEPT && third - second >= KEPT)
      return certain(row, 'keeps', `${third - first} files or sockets stay open after ${2 * LEAVING} ${what}`)
    const seen = await ask(target, { target: health, headers: subject.routes.headers })
    if (seen.error !== undefined)
      return certain(row, 'hangs', `${health} gets ${outcomeOf(seen)} after ${2 * LEAVING} ${what}`)
  }
  return fine(
    row,
    `${ways.length * 2 * LEAVING} clients left by close and reset: it lives, serves, and holds no more files`,
  )
}

/** What it holds open after some requests, with nobody there. */
async function rest({ routes: { headers, health } }: Subject, { target, pids }: Server): Promise<number> {
  for (let asked = 0; asked < 5; asked++) await ask(target, { target: health, headers })
  await sleep(200)
  return countFiles(pids()) ?? 0
}

/** A server needs a moment to see that clients have left; one whose handlers go on, longer. @returns open files, then or after 8 s */
async function settle({ pids, whyEnded }: Server, atMost: number): Promise<number> {
  const until = performance.now() + 8_000
  for (;;) {
    const open = countFiles(pids()) ?? 0
    if (open <= atMost || whyEnded() !== undefined || performance.now() > until) return open
    await sleep(50)
  }
}

/** Sends a tenth of an upload, and leaves when the server has had time to open what it needs. */
async function leaveUpload(
  { routes: { headers, upload } }: Subject,
  target: Target,
  resets: boolean,
): Promise<void> {
  if (upload === undefined) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const socket = connect(target)
  socket
    .resume()
    .on('error', () => {})
    .once('close', () => resolve())
  const request = uploadOf(upload, headers, 'a'.repeat(90_000), 900_000)
  socket.write(requestBytes(request, authority(target)), () => {
    setTimeout(() => (resets ? socket.resetAndDestroy() : socket.destroy()), 15)
  })
  return promise
}
