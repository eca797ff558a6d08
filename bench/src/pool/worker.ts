import { threadId } from 'node:worker_threads'
import type { Message } from './pace.ts'

/** What the workers of a measured pool do: as little as the handler of qoper8-cp's own benchmark. */

interface Answer {
  messageNo: number
  workerId: number
  count: number
}

let count = 0

/** Piscina's way. */
export default function answer({ messageNo }: Message): Answer {
  count++
  return { messageNo, workerId: threadId, count }
}

/** qoper8-cp's way. */
export function handler(message: Message, finished: (answer: Answer) => void): void {
  finished(answer(message))
}

/** qoper8-cp's, at the start of a worker. */
export { endWithParent as onStartupModule } from '@startgrid/worker-pool/end-with-parent.ts'
