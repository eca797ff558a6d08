/**
 * The same body, which says when it fails or stops: Bun cuts the connection and tells nobody whose answer that was.
 * @param limitMs for which it may be silent while the client waits
 * @param gone aborted when the client leaves: nothing is a failure then. Bun does not cancel each body that nobody reads any more
 * @param onFailure told once; the connection is cut then
 */
export function watchBody(
  body: ReadableStream,
  limitMs: number,
  gone: AbortSignal,
  onFailure: (error: unknown) => void,
): ReadableStream {
  const reader = body.getReader()
  let isCancelled = false

  /** The next chunk, undefined at the end. */
  function read(): Promise<unknown> {
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    const timer = setTimeout(() => reject(new Error(`The body was silent for ${limitMs} ms.`)), limitMs)
    reader.read().then(({ value }) => resolve(value), reject)
    return promise.finally(() => clearTimeout(timer))
  }

  async function fail(error: unknown): Promise<void> {
    if (!gone.aborted) onFailure(error)
    await reader.cancel(error).catch(() => {}) // it says again that it failed
  }

  // Only what the client waits for is read, and so waited for.
  const strategy = { highWaterMark: 0 }
  return new ReadableStream(
    {
      async pull(controller) {
        try {
          const chunk = await read()
          if (isCancelled) return
          if (chunk === undefined) controller.close()
          else controller.enqueue(chunk)
        } catch (error) {
          if (isCancelled) return
          void fail(error)
          // Bun prints the error as well if this is still the turn in which the answer began.
          setImmediate(() => controller.error(error))
        }
      },
      cancel(reason) {
        isCancelled = true
        return reader.cancel(reason)
      },
    },
    strategy,
  )
}
