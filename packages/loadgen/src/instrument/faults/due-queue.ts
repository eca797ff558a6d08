import type { Socket } from 'node:net'
import { did } from './fault-process.ts'
import { rawResponse } from './raw-server.ts'

/** A timer may fire this late, so the rest of a wait is polled. */
const POLLED_MS = 2

interface Held {
  socket: Socket
  due: number
}

/** Holds responses back until they are due: never early, and late only by as much as the machine keeps this process waiting. */
export class DueQueue {
  readonly #held: Held[] = []
  #waiting = false

  /** @param due milliseconds of `performance.now()`, none before the last one's */
  responseAt(socket: Socket, due: number): void {
    did.readAt.push(performance.now())
    this.#held.push({ socket, due })
    if (!this.#waiting) this.#wait()
  }

  #wait(): void {
    const next = this.#held[0]
    this.#waiting = next !== undefined
    if (next === undefined) return
    const left = next.due - performance.now()
    if (left > POLLED_MS) setTimeout(() => this.#responseDue(), left - POLLED_MS)
    else setImmediate(() => this.#responseDue())
  }

  #responseDue(): void {
    for (let next = this.#held[0]; next !== undefined; next = this.#held[0]) {
      const now = performance.now()
      if (now < next.due) break
      this.#held.shift()
      did.responses++
      did.respondedAt.push(now)
      if (!next.socket.destroyed) next.socket.write(rawResponse('late'))
    }
    this.#wait()
  }
}
