import { HEADER_LENGTH, ProtocolError, VERSION } from './record.ts'

/** Takes one whole record without its padding. The bytes may be those of the chunk that brought them. */
type OnRecord = (type: number, id: number, content: Buffer) => void

/**
 * Splits a byte stream into records, independent of its chunks. A record that is complete in one chunk, as nearly all are, is
 * not copied. Other records are copied once. Nothing else is kept, so a connection holds at most one record:
 * 65,798 bytes.
 */
export class RecordParser {
  readonly #onRecord: OnRecord
  readonly #header = Buffer.alloc(HEADER_LENGTH)
  /** The record that has begun, as soon as its length is known. */
  #record: Buffer | undefined
  /** Bytes of it that have come. */
  #filled = 0

  constructor(onRecord: OnRecord) {
    this.#onRecord = onRecord
  }

  /**
   * Takes the next bytes of the stream.
   * @throws {ProtocolError} if they are not FastCGI 1.0; no more may be given then
   */
  push(chunk: Buffer): void {
    let at = 0
    while (at < chunk.length) {
      const left = chunk.length - at
      const whole = this.#filled === 0 && left >= HEADER_LENGTH ? recordLength(chunk, at) : Infinity
      if (whole <= left) {
        this.#emit(chunk, at)
        at += whole
      } else {
        at = this.#collect(chunk, at)
      }
    }
  }

  /** Copies what belongs to the record that has begun. @returns where the rest is */
  #collect(chunk: Buffer, at: number): number {
    const record = this.#record ?? this.#header
    const end = Math.min(chunk.length, at + record.length - this.#filled)
    this.#filled += chunk.copy(record, this.#filled, at, end)
    if (this.#filled < record.length) return end
    if (this.#record === undefined) {
      this.#record = Buffer.allocUnsafe(recordLength(this.#header, 0))
      this.#header.copy(this.#record)
    }
    if (this.#filled === this.#record.length) {
      const complete = this.#record
      this.#record = undefined
      this.#filled = 0
      this.#emit(complete, 0)
    }
    return end
  }

  #emit(bytes: Buffer, at: number): void {
    const content = at + HEADER_LENGTH
    const id = bytes.readUInt16BE(at + 2)
    const length = bytes.readUInt16BE(at + 4)
    this.#onRecord(bytes.readUInt8(at + 1), id, bytes.subarray(content, content + length))
  }
}

/** Bytes from header to padding. */
function recordLength(bytes: Buffer, at: number): number {
  if (bytes[at] !== VERSION) throw new ProtocolError(`FastCGI ${bytes[at]} is not spoken here`)
  return HEADER_LENGTH + bytes.readUInt16BE(at + 4) + bytes.readUInt8(at + 6)
}
