import { setTimeout as sleep } from 'node:timers/promises'
import type { Blocks, InFlight, Pace } from './settings.ts'

/** What messages are handed to. */
export interface MessagePool {
  /** @returns which worker handled it; rejects if that ended */
  send(message: Message): Promise<number>
  /** How many messages wait for a worker. */
  waiting(): number
}

/** Small, as those of qoper8-cp's own benchmark. */
export interface Message {
  messageNo: number
  time: number
}

/** What came of the pace. */
interface Paced {
  /** The most messages that were found waiting when others followed. */
  longestQueue: number
  /** The pause at the end, in milliseconds; null without pauses. */
  delayMs: number | null
}

/**
 * Hands messages to a pool and waits until all get a response.
 * @param responded told of each, by which worker
 */
export function sendAll(
  pool: MessagePool,
  messages: number,
  pace: Pace,
  responded: (worker: number) => void,
): Promise<Paced> {
  const outbox = new Outbox(pool, messages, responded)
  return pace.kind === 'blocks' ? sendBlocks(outbox, pace) : keepInFlight(outbox, pace)
}

class Outbox {
  longestQueue = 0
  readonly #pool: MessagePool
  readonly #messages: number
  readonly #responded: (worker: number) => void
  #sent = 0

  constructor(pool: MessagePool, messages: number, responded: (worker: number) => void) {
    this.#pool = pool
    this.#messages = messages
    this.#responded = responded
  }

  get empty(): boolean {
    return this.#sent === this.#messages
  }

  /** @returns how many wait now */
  look(): number {
    const waiting = this.#pool.waiting()
    this.longestQueue = Math.max(this.longestQueue, waiting)
    return waiting
  }

  async send(): Promise<void> {
    this.#sent++
    this.#responded(await this.#pool.send({ messageNo: this.#sent, time: Date.now() }))
  }
}

async function keepInFlight(outbox: Outbox, { count }: InFlight): Promise<Paced> {
  const refill = async () => {
    while (!outbox.empty) {
      outbox.look()
      await outbox.send()
    }
  }
  await Promise.all(Array.from({ length: count }, refill))
  return { longestQueue: outbox.longestQueue, delayMs: null }
}

async function sendBlocks(outbox: Outbox, { length, delayMs }: Blocks): Promise<Paced> {
  const pause = new Pause(delayMs)
  const responses: Promise<void>[] = []
  while (!outbox.empty) {
    await sleep(pause.ms)
    pause.adjust(outbox.look())
    for (let count = 0; count < length && !outbox.empty; count++) responses.push(outbox.send())
  }
  await Promise.all(responses)
  return { longestQueue: outbox.longestQueue, delayMs: pause.ms }
}

/** Between two blocks: adjusts itself so that the queue neither runs dry nor grows, by the rule of qoper8-cp's benchmark. */
export class Pause {
  ms: number
  #longest = 0

  constructor(ms: number) {
    this.ms = ms
  }

  /** @param waiting how many messages of earlier blocks wait still */
  adjust(waiting: number): void {
    if (waiting > this.#longest) {
      this.#longest = waiting
      this.ms++
    } else if (waiting === 0) this.ms = Math.max(0, this.ms - 1)
  }
}
