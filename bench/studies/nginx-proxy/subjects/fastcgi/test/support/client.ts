import { once } from 'node:events'
import { connect, type NetConnectOpts, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type CgiResponse,
  END,
  encode,
  readResponse,
  request,
  variables,
  type WireRecord,
} from './records.ts'

/** A web server's side of one connection. */
export class Client {
  readonly socket: Socket
  #received: Buffer = Buffer.alloc(0)

  constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk])
    })
    socket.on('error', () => {})
  }

  static async open(options: NetConnectOpts): Promise<Client> {
    const socket = connect(options)
    await once(socket, 'connect')
    return new Client(socket)
  }

  send(...records: readonly WireRecord[]): void {
    this.socket.write(encode(...records))
  }

  /** `GET url`, and its response. */
  async get(url: string, id = 1): Promise<CgiResponse> {
    this.send(...request(id, variables(url)))
    return readResponse(await this.records(), id)
  }

  /** The records up to the next END_REQUEST. */
  async records(): Promise<WireRecord[]> {
    for (;;) {
      const records = wholeRecords(this.#received)
      const end = records.findIndex(({ type }) => type === END)
      if (end !== -1) {
        const taken = records.slice(0, end + 1)
        this.#received = this.#received.subarray(encode(...taken).length)
        return taken
      }
      await once(this.socket, 'data', { signal: AbortSignal.timeout(120_000) })
    }
  }

  /** Resolves when the other side has closed. */
  async closed(): Promise<void> {
    while (!this.socket.closed) await sleep(5)
  }
}

/** Those that are there in full. */
function wholeRecords(bytes: Buffer): WireRecord[] {
  const records: WireRecord[] = []
  for (let at = 0; at + 8 <= bytes.length; ) {
    const content = bytes.subarray(at + 8, at + 8 + bytes.readUInt16BE(at + 4))
    if (content.length < bytes.readUInt16BE(at + 4)) break
    records.push({
      type: bytes.readUInt8(at + 1),
      id: bytes.readUInt16BE(at + 2),
      content: Buffer.from(content),
    })
    at += 8 + content.length + bytes.readUInt8(at + 6)
  }
  return records
}
