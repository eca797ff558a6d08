import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '@startgrid/cli/until.ts'
import { NEVER_SHED, type Target } from '@startgrid/grid/launcher.ts'
import { LIGHT } from '../clients/clients.ts'
import type { Fault } from '../fault.ts'
import { findDeath } from '../subject/alive.ts'
import { residentMemory } from '../subject/footprint.ts'

/** `mem_limit` of docker-compose.yml, and `limits` of deploy/kubernetes/base. */
const LIMIT_MB = 256

/** V8 takes half of a container's memory for its heap. */
const HEAP = `--max-old-space-size=${LIMIT_MB / 2}`

/** Pages of 150 kB: more than the memory. */
const REQUESTS = { short: 2_000, full: 4_000 } as const

/** Of njs, pages of 8 kB: its old engine takes 290 MB for a single page of 150 kB, also alone (QuickJS 12 MB). */
const NJS_REQUESTS = { short: 400, full: 1_000 } as const

/** Samples of memory while the client reads nothing, 100 ms apart. */
const SAMPLES = { short: 40, full: 100 } as const

/** Seconds to read all responses. */
const READING_S = 240

/** A client that sends requests and reads no response fills the memory of a server that handles them all at once. */
export const pipelining: Fault = {
  name: 'pipelining',
  title: 'one connection sends 4,000 requests at once, and reads no response for a while',
  expected: `at most ${LIMIT_MB} MB, as in the containers; then all responses arrive`,
  absent({ runtime }) {
    if (runtime === 'bun')
      return 'Bun closes the connection if a request comes before the last response is ready.'
    return process.platform === 'linux' ? undefined : 'The memory of a process is seen in /proc.'
  },
  async run(subject) {
    const { app, size } = subject
    const execArgv = app.runtime === 'node' ? [HEAP] : []
    const launched = await subject.launch({ env: NEVER_SHED, execArgv })
    const isNjs = app.runtime === 'nginx'
    const requests = (isNjs ? NJS_REQUESTS : REQUESTS)[size]
    const page = isNjs ? '/' : '/?items=1000'
    const client = new LateReader(launched.target, app.role === 'ssr' ? page : LIGHT[app.role], requests)
    let peak = 0
    for (let sample = 0; sample < SAMPLES[size]; sample++) {
      peak = Math.max(peak, residentMemory(launched))
      await sleep(100)
    }
    const peakMb = Math.round(peak / 2 ** 20)
    // NGINX handles what it has read of one connection before it comes to others: pages of njs keep a busy machine for longer than 30 s.
    if (isNjs) await client.readAll()
    const findings = await findDeath(launched)
    if (!isNjs && findings.length === 0) await client.readAll()
    client.end()
    if (peakMb > LIMIT_MB) findings.push(`It took ${peakMb} MB for ${requests} requests on one connection.`)
    if (client.responses < requests)
      findings.push(`${client.responses} of ${requests} pipelined requests got a response.`)
    return { findings, figures: { requests, 'peak MB': peakMb } }
  },
}

/** Sends all requests at once, and counts the responses as soon as it reads. */
class LateReader {
  responses = 0
  readonly #socket: Socket

  constructor(target: Target, path: string, requests: number) {
    const request = (more: string) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\n${more}\r\n`
    this.#socket = connect('socketPath' in target ? { path: target.socketPath } : target)
      .setEncoding('latin1')
      .pause()
    this.#socket.on('error', () => {}) // it counts what came
    this.#socket.write(request('').repeat(requests - 1) + request('connection: close\r\n'))
  }

  async readAll(): Promise<void> {
    const start = 'HTTP/1.1 200 '
    let rest = ''
    this.#socket.on('data', (text: string) => {
      const parts = (rest + text).split(start)
      this.responses += parts.length - 1
      rest = parts.at(-1)?.slice(1 - start.length) ?? ''
    })
    this.#socket.resume()
    await until('not all responses came', () => this.#socket.closed, READING_S)
  }

  end(): void {
    this.#socket.destroy()
  }
}
