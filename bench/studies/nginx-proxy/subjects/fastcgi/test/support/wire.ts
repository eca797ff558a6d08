import type { Wire } from '../../src/responder/connection.ts'
import { decode, type WireRecord } from './records.ts'

/** A socket that keeps what is written to it. */
export class RecordingWire implements Wire {
  #written: Buffer[] = []
  ended = false
  destroyed = false
  paused = false
  /** What `write` says: whether the peer reads. */
  isRead = true

  write(bytes: Buffer): boolean {
    this.#written.push(Buffer.from(bytes))
    return this.isRead
  }

  pause(): void {
    this.paused = true
  }

  end(): void {
    this.ended = true
  }

  destroy(): void {
    this.destroyed = true
  }

  /** The records written since the last call. */
  take(): WireRecord[] {
    return decode(Buffer.concat(this.#written.splice(0)))
  }
}
