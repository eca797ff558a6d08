/** What a worker does with a message: as little as the handler of qoper8-cp's own benchmark. */

let count = 0

export function handler({ messageNo }: { messageNo: number }, finished: (reply: object) => void): void {
  count++
  finished({ messageNo, count })
}

/** Called at the start of a worker. */
export { endWithParent as onStartupModule } from '../end-with-parent.ts'
