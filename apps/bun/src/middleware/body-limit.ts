import { BODY_LIMIT } from '#shared/http/validate-request.ts'
import type { Handler } from '../handler.ts'
import { sendProblem } from './errors.ts'

/**
 * 413 for a larger body. `maxRequestBodySize` of Bun is that of the whole server, so this has the limit of a route. A body without
 * `content-length` is complete before the handler runs: it is counted in a copy.
 * @param limit bytes; `Infinity`: no limit, and nothing is copied
 */
export function limitBody(next: Handler, limit = BODY_LIMIT): Handler {
  if (limit === Infinity) return next
  return (request, server) => {
    const { headers } = request
    const length = headers.get('content-length')
    if (length !== null) return Number(length) > limit ? refuse() : next(request, server)
    if (!headers.has('transfer-encoding')) return next(request, server)
    return isLarger(request.clone().body, limit).then((larger) => (larger ? refuse() : next(request, server)))
  }
}

/** It must not cancel the copy: that would wait until the handler cancels the body, too. */
async function isLarger(body: ReadableStream<Uint8Array> | null, limit: number): Promise<boolean> {
  const reader = body?.getReader()
  for (let bytes = 0; bytes <= limit; ) {
    const { done = true, value } = (await reader?.read()) ?? {}
    if (done) return false
    bytes += value?.length ?? 0
  }
  return true
}

const refuse = () => sendProblem(413, { headers: { connection: 'close' } })
