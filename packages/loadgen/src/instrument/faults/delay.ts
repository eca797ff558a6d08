/** Takes the same time for every request, however many there are. */

import { DueQueue } from './due-queue.ts'
import { offer, readSettings } from './fault-process.ts'

export interface DelaySettings {
  ms: number
}

const { ms } = readSettings<DelaySettings>()
const queue = new DueQueue()

await offer((socket) => queue.responseAt(socket, performance.now() + ms))
