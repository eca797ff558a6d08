/** Sends a body of a given size: with its length, in chunks of odd sizes written in pieces of odd sizes, or until it closes. */

import type { Socket } from 'node:net'
import { bodyOf } from './bodies.ts'
import { did, offer, readSettings } from './fault-process.ts'

export interface ChunksSettings {
  bytes: number
  framing: 'length' | 'chunks' | 'close'
}

/** Primes: neither chunks nor pieces ever line up with each other or with a buffer. */
const CHUNK_SIZES = [1, 2, 3, 5, 7, 11, 13, 101, 1_009, 10_007, 65_537]
const PIECE_SIZES = [3, 17, 1_013, 40_009, 70_001]

function split(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const parts: Buffer[] = []
  for (let at = 0, n = 0; at < bytes.length; n++) {
    const size = sizes[n % sizes.length] ?? 1
    parts.push(bytes.subarray(at, at + size))
    at += size
  }
  return parts
}

function chunked(body: Buffer): Buffer {
  const chunks = split(body, CHUNK_SIZES).map((part) =>
    Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')]),
  )
  return Buffer.concat([...chunks, Buffer.from('0\r\n\r\n')])
}

function responseBytes({ bytes, framing }: ChunksSettings): Buffer {
  const header = {
    length: `content-length: ${bytes}`,
    chunks: 'transfer-encoding: chunked',
    close: 'connection: close',
  }[framing]
  const body = bodyOf(bytes)
  const head = Buffer.from(`HTTP/1.1 200 OK\r\n${header}\r\n\r\n`)
  return Buffer.concat([head, framing === 'chunks' ? chunked(body) : body])
}

const settings = readSettings<ChunksSettings>()
const PIECES = split(responseBytes(settings), PIECE_SIZES)

/** Each piece once the last one is on its way, so that they stay pieces. */
function send(socket: Socket, piece = 0): void {
  if (piece < PIECES.length) {
    socket.write(PIECES[piece] ?? '', () => send(socket, piece + 1))
    return
  }
  did.responses++
  if (settings.framing === 'close') socket.end()
}

await offer((socket) => send(socket))
