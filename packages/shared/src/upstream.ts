/** What is passed on. Any other header would speak for this origin, such as cookies and policies, or is about another connection or coding. */
const PASSED = [
  'cache-control',
  'content-disposition',
  'content-language',
  'content-type',
  'expires',
  'last-modified',
  'retry-after',
]

/**
 * Fetches what a route passes on: the status, a few headers, and the body, decoded. Without headers for 10 s, it throws a 504, and what fails
 * otherwise is a 502. A body may take long: HANDLER_TIMEOUT_MS limits its silence, and the framework cancels it when the client leaves.
 * @param init `signal` is aborted when the client leaves
 */
export async function fetchUpstream(
  url: URL,
  { signal: gone, ...init }: RequestInit & { signal: AbortSignal },
): Promise<Response> {
  const late = new AbortController()
  const deadline = setTimeout(() => late.abort(), 10_000)
  const signal = AbortSignal.any([gone, late.signal])
  try {
    const { body, status, headers } = await fetch(url, { ...init, signal })
    if (status > 599) throw new RangeError(`status ${status}`) // Hono's Response has it
    return new Response(body, { status, headers: [...headers].filter(([name]) => PASSED.includes(name)) })
  } catch (cause) {
    if (gone.aborted) throw cause // nobody waits
    const status = late.signal.aborted ? 504 : 502
    throw Object.assign(new Error(`${url.origin} does not respond.`, { cause }), { expose: false, status })
  } finally {
    clearTimeout(deadline)
  }
}
