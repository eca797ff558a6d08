import autocannon from 'autocannon'
import { type AutocannonLoad, AutocannonTally } from './autocannon-tally.ts'

/** autocannon in a process of its own, started by autocannon.ts: it stays warm between loads. */

export interface AutocannonPlan {
  url: string
  connections: number
  durationMs: number
  timeoutMs: number
  /** The expected one; others are errors. */
  status: number
}

/** What the parent tells the child. */
export type ToChild = { run: AutocannonPlan } | { abort: true }

/** What the child sends: `ready` once, then one message per load. */
export type FromChild = { ready: true } | { load: AutocannonLoad } | { error: string }

/** Milliseconds between two looks at whether it was stopped; its default, a second, would be the shortest slice. */
const SAMPLE_MS = 10

/** Seconds; it is stopped before. */
const FOREVER = 86_400

let stop = (): void => {}

function offer({ url, connections, durationMs, timeoutMs, status }: AutocannonPlan): Promise<AutocannonLoad> {
  const { promise, resolve, reject } = Promise.withResolvers<AutocannonLoad>()
  const tally = new AutocannonTally({ connections, status, now: performance.now() })
  let stoppedAt = 0
  const options = { url, connections, duration: FOREVER, timeout: timeoutMs / 1000, sampleInt: SAMPLE_MS }
  const instance = autocannon(options, (error, result) => {
    if (error) reject(error)
    else resolve(tally.finish({ sent: result.requests.sent, stoppedAt }))
  })
  instance.on('response', (_client, code, _bytes, milliseconds) => {
    tally.responded(code, milliseconds, performance.now())
  })
  instance.on('reqError', (error) => tally.failed(kindOf(error)))
  const timer = setTimeout(() => stop(), durationMs)
  stop = () => {
    clearTimeout(timer)
    stoppedAt ||= performance.now()
    instance.stop()
  }
  return promise
}

function kindOf(error: NodeJS.ErrnoException): 'connect' | 'reset' | 'timeout' {
  if (error.message === 'request timed out') return 'timeout'
  return error.syscall === 'connect' ? 'connect' : 'reset'
}

function send(message: FromChild): void {
  process.send?.(message)
}

process.on('message', (message: ToChild) => {
  if ('abort' in message) return stop()
  offer(message.run).then(
    (load) => send({ load }),
    (error: unknown) => send({ error: error instanceof Error ? error.message : String(error) }),
  )
})

// The parent stopped this process or died: nobody is left to measure for.
process.on('disconnect', () => process.exit())

// Ctrl-C reaches the whole process group; the parent decides what becomes of a running load.
process.on('SIGINT', () => {})

send({ ready: true })
