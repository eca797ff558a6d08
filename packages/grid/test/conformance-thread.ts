import { once } from 'node:events'
import { parentPort, Worker } from 'node:worker_threads'
import { checkConformance, type Options, type Report } from '@startgrid/conformance'

/** What a check needs; the text of the log follows, as it grows. */
interface Order {
  options: Options
  hasLog: boolean
}

type Outcome = { report: Report } | { error: string }

/** Milliseconds between two looks at the log of the server. */
const LOG_PERIOD_MS = 20

/**
 * The suite in a thread of its own, which has no tests. node:test follows every promise of a thread that has tests, and that doubles the
 * CPU time of the suite.
 */
export class ConformanceThread {
  readonly #worker = new Worker(new URL(import.meta.url), {
    // React's development build needs five times as long for the pages that the suite compares with.
    env: { ...process.env, NODE_ENV: 'production' },
  })

  /**
   * Like `checkConformance`. One check at a time.
   * @throws {Error} with the message of what `checkConformance` throws
   */
  async check({ log, ...options }: Omit<Options, 'signal'>): Promise<Report> {
    this.#send({ options, hasLog: log !== undefined })
    let sent = 0
    const timer = setInterval(() => {
      const text = log?.() ?? ''
      if (text.length > sent) this.#send(text.slice(sent))
      sent = text.length
    }, LOG_PERIOD_MS)
    try {
      const [outcome] = (await once(this.#worker, 'message')) as [Outcome]
      if ('error' in outcome) throw new Error(outcome.error)
      return outcome.report
    } finally {
      clearInterval(timer)
    }
  }

  async stop(): Promise<void> {
    await this.#worker.terminate()
  }

  #send(message: Order | string): void {
    this.#worker.postMessage(message)
  }
}

let logged = ''

parentPort?.on('message', async (message: Order | string) => {
  if (typeof message === 'string') {
    logged += message
    return
  }
  logged = ''
  parentPort?.postMessage(await run(message))
})

async function run({ options, hasLog }: Order): Promise<Outcome> {
  try {
    return { report: await checkConformance({ ...options, ...(hasLog && { log: () => logged }) }) }
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) }
  }
}
