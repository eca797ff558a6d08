import { lookup } from 'node:dns/promises'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { Clients } from './clients.ts'

/**
 * `node in-pod.ts '[{"host":"nginx","port":4127,"path":"/json", …}, …]'`: clients of several targets, for a pod of the cluster. It prints
 * `ready` when every target has responded often enough. Its standard input takes `mark`, the time from which failures are counted, and
 * `stop`. Then it prints a list with one `InPodTally` for each target.
 */

export interface InPodTarget {
  /** The name of a Service. */
  readonly host: string
  readonly port: number
  readonly path: string
  readonly kept: number
  readonly fresh: number
  readonly pauseMs: number
  readonly timeoutMs: number
}

export interface InPodTally {
  readonly responded: number
  /** Pages that a busy app refused, with the request to try again later. */
  readonly shed: number
  readonly crossed: number
  /** What failed, and how often. */
  readonly failures: readonly (readonly [what: string, times: number])[]
  /** Milliseconds from the mark to the last request that failed or crossed; null: none did. */
  readonly lastFailureMs: number | null
  /** Milliseconds from the mark to the end. */
  readonly lastedMs: number
}

/** Of each target, before the fault. */
const RESPONSES = 20

async function main(targets: readonly InPodTarget[]): Promise<void> {
  // Services keep their addresses. Otherwise each new connection would ask the cluster's DNS.
  const all = await Promise.all(
    targets.map(async ({ host, port, ...options }) => {
      const { address } = await lookup(host)
      return new Clients({ ...options, countShed: true, target: { host: address, port } })
    }),
  )
  while (all.some(({ responded }) => responded < RESPONSES)) await sleep(50)
  process.stdout.write('ready\n')
  let markedAt = performance.now()
  for await (const line of createInterface(process.stdin)) {
    if (line === 'mark') markedAt = performance.now()
    else break
  }
  const lastedMs = performance.now() - markedAt
  const tallies = await Promise.all(
    all.map(async (clients): Promise<InPodTally> => {
      const { responded, crossed, failures } = await clients.stop()
      const { lastFailureAt, shed } = clients
      const lastFailureMs = lastFailureAt === undefined ? null : Math.round(lastFailureAt - markedAt)
      return {
        responded,
        shed,
        crossed,
        failures: [...failures],
        lastFailureMs,
        lastedMs: Math.round(lastedMs),
      }
    }),
  )
  process.stdout.write(`${JSON.stringify(tallies)}\n`)
}

await main(JSON.parse(process.argv[2] ?? '[]'))
