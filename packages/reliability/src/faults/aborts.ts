import { setTimeout as sleep } from 'node:timers/promises'
import type { Request } from '@startgrid/wire/request.ts'
import { leave } from '../clients.ts'
import { certain, type Finding, fine, untested } from '../finding.ts'
import { countFiles, type Server, uploadOf } from '../routes.ts'
import type { Subject } from '../subject.ts'

/** Clients that leave in one way before files are counted, and the files of these that must stay open, twice in a row, for a finding. */
const LEAVING = 20
const KEPT = 10

/** A way to leave: after the first bytes of the response, or so many milliseconds. */
interface Way {
  readonly what: string
  readonly request: Request
  readonly after: 'bytes' | number
}

/** Clients that leave at any moment cost a server nothing that lasts. */
export async function tryAbort(subject: Subject): Promise<Finding> {
  const { headers, page, download = page, stream, slow } = subject.routes
  const way = (when: string, path: string, after: Way['after']): Way => {
    return { what: `requests of ${path} that were left ${when}`, request: { target: path, headers }, after }
  }
  return judge(subject, [
    way('before the response', page.path, 0),
    way('amid the response', download.path, 'bytes'),
    ...(slow ? [way('before the response', slow.path, 0)] : []),
    ...(stream ? [way('amid the stream', stream, 'bytes')] : []),
  ])
}

/** The same amid what they send. */
export async function tryUpload(subject: Subject): Promise<Finding> {
  const { headers, upload } = subject.routes
  if (upload === undefined) return untested('no path that takes one (--upload /path)')
  // A tenth of it; then the server has time to open what it needs.
  const request = uploadOf(upload, headers, 'a'.repeat(90_000), 900_000)
  return judge(subject, [{ what: `uploads to ${upload.path}`, request, after: 15 }])
}

async function judge(subject: Subject, ways: readonly Way[]): Promise<Finding> {
  const server = await subject.start()
  for (const { what, request, after } of ways) {
    for (let asked = 0; asked < 5; asked++) await subject.probe(server)
    await sleep(200)
    const open = [countFiles(server)]
    for (let batch = 1; batch <= 2; batch++) {
      for (let left = 0; left < LEAVING; left++) {
        await leave(server.target, request, { after, resets: left % 2 === 0 })
        if (left % 4 === 3) await sleep(10)
      }
      open.push(await settle(server, (open.at(-1) ?? 0) + 1))
      // What nobody catches may end it a moment later.
      if (server.whyEnded() === undefined) await sleep(200)
      if (server.whyEnded() !== undefined) break
    }
    const [first = 0, second = 0, third = 0] = open
    if (second - first >= KEPT && third - second >= KEPT)
      return certain('keeps', `${third - first} files or sockets stay open after ${2 * LEAVING} ${what}`)
    const missing = await subject.missing(server, `${2 * LEAVING} ${what}`)
    if (missing !== undefined) return missing
  }
  const count = ways.length * 2 * LEAVING
  return fine(`${count} clients left by close and reset: it lives, serves, and holds no more files`)
}

/** A server needs a moment to see that clients have left; one whose handlers go on, longer. @returns open files, then or after 8 s */
async function settle(server: Server, atMost: number): Promise<number> {
  const until = performance.now() + 8_000
  for (;;) {
    const open = countFiles(server)
    if (open <= atMost || server.whyEnded() !== undefined || performance.now() > until) return open
    await sleep(50)
  }
}
