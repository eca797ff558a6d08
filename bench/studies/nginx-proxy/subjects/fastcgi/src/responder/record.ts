/** What FastCGI connections carry (https://fastcgi-archives.github.io/FastCGI_Specification.html, sections 3.3 and 8). */

/** Only those that a responder receives or sends. */
export const RecordType = {
  beginRequest: 1,
  abortRequest: 2,
  endRequest: 3,
  params: 4,
  stdin: 5,
  stdout: 6,
  getValues: 9,
  getValuesResult: 10,
  unknownType: 11,
} as const

/** Why a request ended. */
export const ProtocolStatus = { requestComplete: 0, cannotMultiplex: 1, unknownRole: 3 } as const

export const RESPONDER_ROLE = 1

/** Flag of BEGIN_REQUEST: the connection is for the next request as well. */
export const KEEP_CONNECTION = 1

/** The request id of records that belong to the connection and to no request. */
export const MANAGEMENT_ID = 0

export const VERSION = 1

/** Bytes before the content of every record. */
export const HEADER_LENGTH = 8

/** Most bytes that one record can carry. */
export const CONTENT_LIMIT = 65_535

/** The peer does not speak FastCGI 1.0; nothing that it sends after this can be understood. */
export class ProtocolError extends Error {
  override name = 'ProtocolError'
}

/** Writes the header of a record without padding, which the specification recommends but nobody needs. @returns where its content goes */
export function writeHeader(
  bytes: Buffer,
  at: number,
  type: number,
  id: number,
  contentLength: number,
): number {
  bytes[at] = VERSION
  bytes[at + 1] = type
  bytes[at + 2] = id >> 8
  bytes[at + 3] = id & 0xff
  bytes[at + 4] = contentLength >> 8
  bytes[at + 5] = contentLength & 0xff
  bytes[at + 6] = 0
  bytes[at + 7] = 0
  return at + HEADER_LENGTH
}

/** @param content at most `CONTENT_LIMIT` bytes */
export function encodeRecord(type: number, id: number, content: Uint8Array): Buffer {
  const bytes = Buffer.allocUnsafe(HEADER_LENGTH + content.length)
  bytes.set(content, writeHeader(bytes, 0, type, id, content.length))
  return bytes
}

/** Bytes of an END_REQUEST record. */
export const END_LENGTH = HEADER_LENGTH + 8

/** Writes END_REQUEST with an application status of 0. */
export function writeEnd(bytes: Buffer, at: number, id: number, protocolStatus: number): void {
  const content = writeHeader(bytes, at, RecordType.endRequest, id, 8)
  bytes.fill(0, content, content + 8)
  bytes[content + 4] = protocolStatus
}

/** END_REQUEST for a request without a response. */
export function encodeEnd(id: number, protocolStatus: number): Buffer {
  const bytes = Buffer.allocUnsafe(END_LENGTH)
  writeEnd(bytes, 0, id, protocolStatus)
  return bytes
}
