import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { win32 } from 'node:path'
import type { Readable } from 'node:stream'
import createError from 'http-errors'

/** What the recipes use of `@fastify/send`, which they install. */
type Send = (
  request: IncomingMessage,
  path: string,
  options: object,
) => Promise<{
  type: string
  statusCode: number
  headers: Record<string, string>
  stream: Readable
  metadata: object
}>

/** Lets HTML files load their scripts, styles and images. The policy of other responses allows nothing. */
export const POLICY = "default-src 'self'; frame-ancestors 'none'"

/**
 * Opens a file of a folder: its ranges, and whether the client has it already.
 * @param path as it is in the URL
 * @throws an error that becomes a 404, or that of the system, which becomes a 500
 */
export async function openFile(send: Send, root: string, request: IncomingMessage, path: string) {
  const options = { root, dotfiles: 'allow', onFile: onFile(root, request) } // `onFile` hides dotfiles
  const file = await send(request, path, options)
  if (file.type === 'error') throw Object(file.metadata).error
  if (file.type === 'directory') throw createError(404)
  await once(file.stream, 'readable') // it is open: a failure before is a 500, not a cut response
  cutShort(file.stream, file.headers['Content-Length'], request.socket)
  const headers = { ...file.headers, 'content-security-policy': POLICY }
  return { status: file.statusCode, headers, stream: file.stream }
}

/**
 * For the option `onFile` of @fastify/send and @fastify/static: what they do not know. Names that begin with a dot are not there, such as
 * `.env` and `.git`, but `.well-known` is (RFC 8615). `bytes=-500` of a shorter file is the whole file, and HEAD has no ranges (RFC 9110, 14),
 * nor has `If-Range` with a weak ETag (13.1.5).
 * @param root the folder
 * @throws an error that becomes a 404
 */
export function onFile(root: string, { method, headers }: Pick<IncomingMessage, 'method' | 'headers'>) {
  return (path: string, { size }: { size: number }): void => {
    if (/[/\\]\.(?!well-known[/\\])/.test(path.slice(root.length))) throw createError(404)
    const [, length = 0] = /^ *bytes= *-(\d+) *$/.exec(headers.range ?? '') ?? []
    const isWeak = headers['if-range']?.toString().startsWith('W/')
    if (method === 'HEAD' || isWeak || Number(length) > size) delete headers.range
  }
}

/** A client whose file has become shorter meanwhile would take the next response for the rest. On Bun there is no socket to close. */
function cutShort(file: Readable & { bytesRead?: number }, length: unknown, socket?: Socket): void {
  file.once('end', () => Number(file.bytesRead) < Number(length) && socket?.destroy())
}

/**
 * For the option `setHeaders` of `express.static` and `@fastify/static`, before the file is piped to the response: on-finished, by which it
 * would be closed, does not know when a client leaves whose response waits behind another of its connection (HTTP pipelining).
 */
export function closeFile(response: ServerResponse): void {
  response.once('pipe', (file: Readable) => {
    cutShort(file, response.getHeader('content-length'), response.req.socket)
    if (response.closed) file.destroy()
    else response.once('close', () => file.destroy())
  })
}

/**
 * The name of an uploaded file, without a path. Its client may send any. A browser sends a field without a file as one without a name.
 * @throws 400 if it can be the name of no file, such as `..`
 */
export function fileName(sent: string | undefined): string {
  const name = win32.basename(sent ?? '')
  if (/^\.{0,2}$|\p{Cc}/u.test(name)) throw createError(400, 'The form has no file.')
  return name
}
