import { Connection, type ConnectionOptions, type ConnectionOwner } from './connection.ts'

/** Milliseconds before a new attempt after a connection without any response, so that a dead server is not flooded. */
const BACK_OFF_MS = 10

/** Connections that may be opening at the same time: servers commonly queue 128 to 511. */
const MOST_CONNECTING = 100

interface PoolOptions extends ConnectionOptions {
  /** The number of open connections. With `fresh`, the maximum. */
  connections: number
  /** A connection per request. */
  fresh: boolean
}

/** The connections of one load. */
export class Pool {
  /** Whether connections that are lost are replaced; not while nothing more is to be sent. */
  isWanted = true
  readonly #options: PoolOptions
  readonly #owner: ConnectionOwner
  readonly #all = new Set<Connection>()
  /** Free connections, the longest idle first. Some may be closed already. */
  readonly #idle = new Queue<Connection>()
  /** Connections still to open. With `fresh`, those that may still be opened. */
  #missing: number
  #connecting = 0
  #untried: number
  #onTried: (() => void) | undefined

  /** @param owner hears of each connection; it passes on to the pool what the pool needs to know */
  constructor(options: PoolOptions, owner: ConnectionOwner) {
    this.#options = options
    this.#owner = owner
    this.#missing = options.connections
    this.#untried = options.connections
  }

  /** Opens all connections, a limited number at a time. @param onTried called once all have been tried */
  open(onTried: () => void): void {
    this.#onTried = onTried
    if (this.#options.fresh) onTried()
    else this.#openMissing()
  }

  /** A free connection, on which a request must be sent at once; undefined if there is none. */
  take(): Connection | undefined {
    if (this.#options.fresh) return this.#mayOpen() ? this.#create() : undefined
    let connection = this.#idle.shift()
    while (connection !== undefined && !connection.isFree) connection = this.#idle.shift()
    return connection
  }

  /** A connection is free, but nothing is due. */
  release(connection: Connection): void {
    this.#idle.push(connection)
  }

  opened(connection: Connection): void {
    this.#tried()
    if (!this.#options.fresh) this.#idle.push(connection)
    this.#openMissing()
  }

  /**
   * Replaces a connection that failed or cannot be used again, after a pause if it never got a response.
   * @param onVacant called then
   */
  lost(connection: Connection, wasConnecting: boolean, onVacant: () => void): void {
    this.#all.delete(connection)
    connection.close()
    if (wasConnecting) this.#tried()
    const replace = () => {
      if (!this.isWanted) return
      this.#missing++
      this.#openMissing()
      onVacant()
    }
    if (connection.responses > 0) replace()
    else setTimeout(replace, BACK_OFF_MS)
  }

  /** Connections that have waited since before a time: `performance.now()`. */
  waitingSince(time: number): Connection[] {
    return [...this.#all].filter((connection) => connection.waitingSince < time)
  }

  close(): void {
    this.isWanted = false
    for (const connection of this.#all) connection.close()
    this.#all.clear()
  }

  #openMissing(): void {
    while (!this.#options.fresh && this.#mayOpen()) this.#create()
  }

  #mayOpen(): boolean {
    return this.isWanted && this.#missing > 0 && this.#connecting < MOST_CONNECTING
  }

  #create(): Connection {
    this.#missing--
    this.#connecting++
    const connection = new Connection(this.#options, this.#owner)
    this.#all.add(connection)
    return connection
  }

  #tried(): void {
    this.#connecting--
    if (!this.#options.fresh && this.#untried > 0 && --this.#untried === 0) this.#onTried?.()
  }
}

/** How many places that were left may stand before the first item. */
const MOST_LEFT = 1024

/** First in, first out; a long queue costs no more than a short one, which is not so for the `shift` of an array. */
export class Queue<T> {
  #items: T[] = []
  #first = 0

  get length(): number {
    return this.#items.length - this.#first
  }

  /** The item that has waited longest. */
  peek(): T | undefined {
    return this.#items[this.#first]
  }

  push(item: T): void {
    this.#items.push(item)
  }

  shift(): T | undefined {
    if (this.length === 0) return undefined
    const item = this.#items[this.#first++]
    // A copy of no more items than were taken since the last one.
    if (this.#first >= MOST_LEFT && 2 * this.#first >= this.#items.length) {
      this.#items = this.#items.slice(this.#first)
      this.#first = 0
    }
    return item
  }
}
