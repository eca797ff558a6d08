import { threadId } from 'node:worker_threads'
import type { Message } from './pace.ts'

/** What the workers of a measured pool do: as little as the handler of qoper8-cp's own benchmark. */

interface Reply {
  messageNo: number
  workerId: number
  count: number
}

let count = 0

/** Piscina's way. */
export default function reply({ messageNo }: Message): Reply {
  count++
  return { messageNo, workerId: threadId, count }
}

/** qoper8-cp's way. */
export function handler(message: Message, finished: (reply: Reply) => void): void {
  finished(reply(message))
}

/** qoper8-cp's, at the start of a worker. */
export { endWithParent as onStartupModule } from '@startgrid/worker-pool/end-with-parent.ts'
