import { constants } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import closeWithGrace from 'close-with-grace'
import type { AppOptions } from './app-options.ts'

/** For Bun: the seconds after which it closes a connection that is idle, or whose response stands still. It takes 255 at most. */
export function idleTimeout({ config, log }: AppOptions): number {
  const seconds = Math.min(255, Math.ceil(config.KEEP_ALIVE_TIMEOUT_MS / 1000))
  for (const name of ['KEEP_ALIVE_TIMEOUT_MS', 'HANDLER_TIMEOUT_MS'] as const)
    if (seconds > 0 && config[name] > seconds * 1000)
      log.warn(`${name} is ${config[name]}, but Bun closes a connection that is silent for ${seconds} s`)
  return seconds
}

/**
 * Closes a server of Bun or Deno when the process is told to stop, and says that it listens. Both close idle connections at once, although a
 * request may be on its way: behind a proxy that repeats it, none is lost.
 * @param close waits for the responses under way
 */
export function closeOnSignal(
  { config, lifecycle, log }: AppOptions,
  address: string,
  close: () => Promise<unknown>,
): void {
  const delay = config.SHUTDOWN_DELAY_MS + config.SHUTDOWN_TIMEOUT_MS
  // Deno refuses some signals, such as SIGILL, and calls listeners that are added while it calls others.
  const skip = Object.keys(constants.signals) as 'SIGTERM'[]
  const closing = closeWithGrace({ delay, logger: log, skip }, async ({ err }) => {
    if (err) log.fatal({ err }, 'uncaught')
    lifecycle.drain() // readiness fails
    await sleep(config.SHUTDOWN_DELAY_MS)
    await close()
    await lifecycle.close()
  })
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      if (lifecycle.signal.aborted) process.exit(1) // the second one
      log.info({ signal }, 'draining')
      void closing.close()
    })
  // Last, because who reads this line may send SIGTERM. Also at LOG_LEVEL=warn: with PORT=0, it is how one learns the address.
  log.child({}, { level: 'info' }).info({ pid: process.pid, address }, 'listening')
}
