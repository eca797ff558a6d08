import { decodePairs, encodePairs } from './pairs.ts'
import {
  encodeEnd,
  encodeRecord,
  KEEP_CONNECTION,
  MANAGEMENT_ID,
  ProtocolError,
  ProtocolStatus,
  RESPONDER_ROLE,
  RecordType,
} from './record.ts'
import { RecordParser } from './record-parser.ts'
import { type Request, readRequest } from './request.ts'
import { encodeResponse, type Headers } from './response.ts'
import { StreamBuffer } from './stream-buffer.ts'

/** Sends the complete response. If the request has ended already (with a response, an abort, or its connection), nothing is sent. */
export type Respond = (status: number, headers: Headers, body?: string | Buffer) => void

/** Responds to a request by one call of `respond`, now or later. It does not throw. */
export type Handler = (request: Request, respond: Respond) => void

/** What a connection needs of its socket (`node:net`). */
export interface Wire {
  write(bytes: Buffer): boolean
  pause(): void
  end(): void
  destroy(): void
}

interface Limits {
  /** Bytes of the name-value pairs of one request. */
  params: number
  /** Bytes of one request body. */
  body: number
}

/** A request that has begun and not ended. */
interface ActiveRequest {
  readonly id: number
  readonly keepConnection: boolean
  readonly params: StreamBuffer
  readonly stdin: StreamBuffer
  handled: boolean
}

/**
 * One connection from a web server, with one request at a time. Concurrent requests are refused as section 5.5 says
 * (FCGI_CANT_MPX_CONN): real web servers open more connections instead.
 */
export class Connection {
  readonly #wire: Wire
  readonly #handler: Handler
  readonly #limits: Limits
  readonly #parser = new RecordParser((type, id, content) => this.#receive(type, id, content))
  #active: ActiveRequest | undefined
  /** Whether nothing will be sent any more. */
  #ended = false
  #draining = false

  constructor(wire: Wire, handler: Handler, limits: Limits) {
    this.#wire = wire
    this.#handler = handler
    this.#limits = limits
  }

  /** Whether the handler has a complete request to respond to, so that the web server waits. */
  get isHandling(): boolean {
    return this.#active?.handled === true
  }

  /** Takes the next bytes from the socket. Bytes that are not FastCGI end the connection. */
  push(chunk: Buffer): void {
    if (this.#ended) return
    try {
      this.#parser.push(chunk)
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error
      this.#active = undefined
      this.#ended = true
      this.#wire.destroy()
    }
  }

  /** From now on the connection ends with the response to its request. */
  drain(): void {
    this.#draining = true
  }

  /** Ends the connection if no request is on it. */
  endIfIdle(): void {
    if (this.#active === undefined) this.#end()
  }

  /** The socket is closed, so no response can be sent. */
  closed(): void {
    this.#active = undefined
    this.#ended = true
  }

  #receive(type: number, id: number, content: Buffer): void {
    if (this.#ended) return
    if (id === MANAGEMENT_ID) this.#manage(type, content)
    else if (type === RecordType.beginRequest) this.#begin(id, content)
    // Section 3.3: records of a request that is not active are ignored.
    else if (this.#active?.id === id) this.#continue(this.#active, type, content)
  }

  #begin(id: number, content: Buffer): void {
    if (content.length < 8 || this.#active?.id === id) throw new ProtocolError('BEGIN_REQUEST is malformed')
    const keepConnection = (content.readUInt8(2) & KEEP_CONNECTION) !== 0
    if (this.#active !== undefined) {
      this.#write(encodeEnd(id, ProtocolStatus.cannotMultiplex))
    } else if (content.readUInt16BE(0) !== RESPONDER_ROLE) {
      this.#write(encodeEnd(id, ProtocolStatus.unknownRole))
      if (!keepConnection) this.#end()
    } else {
      const params = new StreamBuffer(this.#limits.params)
      const stdin = new StreamBuffer(this.#limits.body)
      this.#active = { id, keepConnection, params, stdin, handled: false }
    }
  }

  #continue(active: ActiveRequest, type: number, content: Buffer): void {
    if (type === RecordType.params) active.params.push(content)
    else if (type === RecordType.stdin) active.stdin.push(content)
    else if (type === RecordType.abortRequest)
      this.#finish(active, encodeEnd(active.id, ProtocolStatus.requestComplete))
    if (active.params.ended && active.stdin.ended && !active.handled) this.#handle(active)
  }

  #handle(active: ActiveRequest): void {
    active.handled = true
    const request = readRequest(active.params, active.stdin)
    this.#handler(request, (status, headers, body = '') => {
      if (this.#active !== active) return
      const sent = request.method === 'HEAD' ? '' : body
      this.#finish(active, encodeResponse(active.id, status, headers, sent))
    })
  }

  #finish(active: ActiveRequest, records: Buffer): void {
    this.#active = undefined
    this.#write(records)
    if (this.#draining || !active.keepConnection) this.#end()
  }

  /** Records of the connection itself (section 4). */
  #manage(type: number, content: Buffer): void {
    if (type === RecordType.getValues) {
      const known = [...(decodePairs(content)?.keys() ?? [])].filter((name) => VALUES.has(name))
      const pairs = new Map(known.map((name) => [name, VALUES.get(name) ?? '']))
      this.#write(encodeRecord(RecordType.getValuesResult, MANAGEMENT_ID, encodePairs(pairs)))
    } else {
      const unknown = Uint8Array.of(type, 0, 0, 0, 0, 0, 0, 0)
      this.#write(encodeRecord(RecordType.unknownType, MANAGEMENT_ID, unknown))
    }
  }

  /** Stops reading from a web server that does not read, because unsent records would pile up. */
  #write(records: Buffer): void {
    if (!this.#wire.write(records)) this.#wire.pause()
  }

  #end(): void {
    this.#ended = true
    this.#wire.end()
  }
}

/** Values that a web server may ask for. FCGI_MAX_CONNS and FCGI_MAX_REQS are omitted: only the system limits them. */
const VALUES: ReadonlyMap<string, string> = new Map([['FCGI_MPXS_CONNS', '0']])
