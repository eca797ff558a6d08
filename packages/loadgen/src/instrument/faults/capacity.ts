/** Responds to one request after the other, each of which takes the same time: a queue with one server and a known capacity. */

import { DueQueue } from './due-queue.ts'
import { offer, readSettings } from './fault-process.ts'

export interface CapacitySettings {
  perSecond: number
}

const { perSecond } = readSettings<CapacitySettings>()
const queue = new DueQueue()
let freeAt = 0

await offer((socket) => {
  freeAt = Math.max(freeAt, performance.now()) + 1000 / perSecond
  queue.responseAt(socket, freeAt)
})
