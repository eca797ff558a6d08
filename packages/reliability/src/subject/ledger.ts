import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Launch } from '@startgrid/grid/launcher.ts'
import type { Instance } from '@startgrid/nginx/instance.ts'

/** For `Subject.front`: the requests that NGINX read, in the form that `findUnsent` reads. */
export const LEDGER = 'ledger.log startgrid'

/** For `Subject.launch`: the app logs the requests that it read. */
export const LOGGED = { LOG_LEVEL: 'info' }

/** How long the two logs may take to agree: NGINX writes its line at the end of a request, the app at any time. */
const PATIENCE_MS = 10_000

/**
 * Finds requests that the app read but NGINX did not send, because the two disagreed about the end of a request. NGINX must be the app's
 * only client. A request is identified by a valid X-Request-Id, or by the id that NGINX gave it.
 * @returns their ids
 */
export async function findUnsent(app: Launch, front: Instance): Promise<string[]> {
  for (const deadline = Date.now() + PATIENCE_MS; ; await sleep(100)) {
    const sent = countIds(await readFile(join(front.dir, 'ledger.log'), 'utf8'), 'reqId')
    const unsent = [...countIds(app.output(), 'requestId')].filter(
      ([id, times]) => times > (sent.get(id) ?? 0),
    )
    if (unsent.length === 0) return []
    if (Date.now() > deadline) return unsent.map(([id]) => id)
  }
}

/** How many requests the app has logged. */
export function countRead(app: Launch): number {
  return [...countIds(app.output(), 'requestId').values()].reduce((sum, times) => sum + times, 0)
}

function countIds(log: string, field: string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const [, id = ''] of log.matchAll(new RegExp(`"${field}":"([^"]+)"`, 'g')))
    counts.set(id, (counts.get(id) ?? 0) + 1)
  return counts
}
