import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '#shared/process/config.ts'
import type { RunningApp } from './app.ts'

/**
 * Waits for the first signal, then stops the app in good order: readiness fails, the load balancer gets time to
 * notice, and NGINX completes the responses in flight.
 * @param first from `nextSignal`, called before the app starts, so that a signal leaves nothing behind
 * @returns the exit code: 0 after a complete drain; 1 after the deadline, on a second signal, or if NGINX died
 */
export async function runToEnd(
  app: RunningApp,
  config: Config,
  first: Promise<NodeJS.Signals>,
): Promise<number> {
  const died = app.instance.exited.then(() => 'died' as const)
  const signal = await Promise.race([first, died])
  if (signal === 'died') return 1
  const second = nextSignal()
  const limitMs = config.shutdownDelayMs + config.shutdownTimeoutMs
  const deadline = sleep(limitMs, `NGINX had not stopped ${limitMs} ms after ${signal}; it was ended.`, {
    ref: false,
  })
  const stopped = stop(app, config).then(() => undefined)
  const reason = await Promise.race([
    stopped,
    second.then((name) => `A second signal, ${name}, ended NGINX.`),
    deadline,
  ])
  if (reason === undefined) return 0
  process.stderr.write(`${reason}\n`)
  app.instance.signal('SIGTERM')
  await app.instance.stop(0)
  return 1
}

async function stop({ drain, instance }: RunningApp, config: Config): Promise<void> {
  // If NGINX cannot reload, it can still be stopped.
  await drain().catch((error: unknown) =>
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`),
  )
  await sleep(config.shutdownDelayMs)
  await instance.stop(config.shutdownTimeoutMs + 1_000)
}

/** Resolves at the next SIGTERM or SIGINT. Until then these signals do not end the process. */
export function nextSignal(): Promise<NodeJS.Signals> {
  const { promise, resolve } = Promise.withResolvers<NodeJS.Signals>()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => resolve(signal))
  return promise
}
