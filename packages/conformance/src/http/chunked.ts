/** The chunked transfer coding (RFC 9112 section 7.1) of a request body, in chunks of the given size. */
export function chunked(body: Uint8Array, size = 4096): Buffer {
  const parts: Uint8Array[] = []
  for (let at = 0; at < body.length; at += size) {
    const chunk = body.subarray(at, at + size)
    parts.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'))
  }
  return Buffer.concat([...parts, Buffer.from('0\r\n\r\n')])
}
