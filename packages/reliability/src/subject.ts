import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type Address, claimPort, formatAddress } from '@startgrid/nginx/address.ts'
import type { Nginx } from '@startgrid/nginx/find.ts'
import { startNginx } from '@startgrid/nginx/instance.ts'
import { type MainOptions, renderMain, renderTemporaryPaths } from '@startgrid/nginx/render.ts'
import type { Patience } from '@startgrid/wire/client.ts'
import { formatTarget, type Target } from '@startgrid/wire/target.ts'
import { ask, type ClientsOptions, openLink, outcomeOf, type Seen, startClients } from './clients.ts'
import { certain, confirmed, type Finding, found, type Row } from './finding.ts'
import type { Routes, Server } from './routes.ts'

/** A server under one fault, and what is known of it. Whatever was started through it ends with it. */
export abstract class Subject {
  abstract readonly routes: Routes
  /** Where it listens, if that is not where PORT says. */
  elsewhere: string | undefined
  /** Milliseconds from SIGTERM, and the last response, to SIGKILL; and for which load balancers go on to send new connections. */
  stopping = { graceMs: 10_000, drainDelayMs: 0 }
  /** It promises that no request meets a kept connection that is being closed. RFC 9112 (9.6) does not. */
  readonly keepsIdle: boolean = false
  readonly nginx: Nginx | undefined
  /** Aborted when a person interrupts. */
  readonly signal: AbortSignal
  readonly #ends: (() => unknown)[] = []

  constructor(nginx: Nginx | undefined, signal: AbortSignal) {
    this.nginx = nginx
    this.signal = signal
  }

  /** Starts it, and waits until it responds. @param port default: a free one @throws {Error} a sentence */
  abstract start(port?: number): Promise<Server>

  /** @param end is called when the fault is over, also when it throws */
  protected atEnd(end: () => unknown): void {
    this.#ends.push(end)
  }

  /** Starts an NGINX with two workers in front of servers, which it asks in turn. @returns where it listens @throws {Error} one sentence */
  async front(...upstreams: readonly Target[]): Promise<Target> {
    const listen = { host: '127.0.0.1', port: await claimPort({ host: '127.0.0.1', port: 0 }) }
    return this.runNginx({ config: (main) => plainFront(main, listen, upstreams), listen: [listen] })
  }

  protected async runNginx(wanted: Parameters<typeof startNginx>[1]): Promise<Target> {
    if (this.nginx === undefined) throw new Error('There is no NGINX.')
    const instance = await startNginx(this.nginx, { ...wanted, workers: 2 })
    this.atEnd(() => instance.stop(1_000))
    const [address] = instance.addresses
    if (address === undefined) throw new Error('NGINX listens nowhere.')
    return address
  }

  /** @returns where a link of so many milliseconds one way begins, as between two cities; it ends at `target` */
  async link(target: Target, ms: number): Promise<Target> {
    const link = await openLink(target, ms)
    this.atEnd(() => link.close())
    return { host: '127.0.0.1', port: (link.address() as AddressInfo).port }
  }

  /** Starts clients. */
  clients(options: ClientsOptions) {
    const clients = startClients(options)
    this.atEnd(clients.close)
    return clients
  }

  /** Asks for health. @returns what came, and after how many milliseconds */
  async probe({ target }: Server, patience?: Patience): Promise<{ seen: Seen; ms: number }> {
    const { headers, health } = this.routes
    const beganAt = performance.now()
    const seen = await ask(target, { target: health, headers }, patience)
    return { seen, ms: performance.now() - beganAt }
  }

  /** @param what it went through @returns a finding if it has ended, or serves nobody */
  async missing(server: Server, what: string): Promise<Finding | undefined> {
    const reason = server.whyEnded()
    if (reason !== undefined) return certain('dies', `after ${what}: ${reason}`)
    const { seen } = await this.probe(server)
    if (seen.error === undefined) return undefined
    return found('hangs', `${this.routes.health} gets ${outcomeOf(seen)} after ${what}`)
  }

  /** Ends what still runs. */
  async end(): Promise<void> {
    await Promise.all(this.#ends.splice(0).map((end) => end()))
  }
}

/** What NGINX's documentation shows for a proxy that keeps its connections. */
function plainFront(main: MainOptions, listen: Address, upstreams: readonly Target[]): string {
  const servers = upstreams.map((one) => `server ${formatTarget(one).replace(/^http:\/\//, '')} max_fails=0;`)
  return `${renderMain(main)}http {
${renderTemporaryPaths(main.dir)}
access_log off;
upstream app { zone app 64k; ${servers.join(' ')} keepalive 32; }
server {
  listen ${formatAddress(listen)};
  location / {
    proxy_http_version 1.1;
    proxy_set_header connection "";
    proxy_set_header host $http_host;
    proxy_set_header x-forwarded-for $remote_addr;
    proxy_pass http://app;
  }
}
}
`
}

/** Tries one thing. It may begin anew with what the subject starts: nothing of an earlier try is left. */
export type Attempt<Tried extends Subject = Subject> = (
  subject: Tried,
) => Promise<Finding | readonly Finding[]>

/** A failure that happens in production, and what a server must do then: rows of a report, and a part of docs/reliability.md. */
export interface Fault<Tried extends Subject = Subject> {
  /** Its name on the command line: `stop`. */
  readonly name: string
  /** It fills the machine, or compares times, so no other is tried beside it. */
  readonly isAlone?: true
  /** What is tried, by the name of its row. */
  readonly rows: Readonly<Record<string, Attempt<Tried>>>
}

/** Called with what a fault has found. @param done of all faults, 0 to 1 */
export type OnFindings = (findings: readonly Row[], done: number) => void

/**
 * Tries faults: three at once, because most of their time is waiting, and then those that want to be alone.
 * @param open a fresh subject @param hasCopies two can run at once @param onFindings in the order of the faults
 * @returns what was found until then, if a person interrupts
 */
export async function tryFaults<Tried extends Subject>(
  faults: readonly Fault<Tried>[],
  open: () => Tried,
  { signal, hasCopies, onFindings }: { signal: AbortSignal; hasCopies: boolean; onFindings: OnFindings },
): Promise<readonly Row[]> {
  const seen = new Map<Fault<Tried>, readonly Row[]>()
  let told = 0
  const work = async (some: Iterable<Fault<Tried>>) => {
    for (const fault of some) {
      if (signal.aborted) return
      seen.set(fault, await tryFault(fault, open()))
      for (let next = faults[told]; next && seen.has(next) && !signal.aborted; next = faults[told])
        onFindings(seen.get(next) ?? [], ++told / faults.length)
    }
  }
  const together = faults.filter(({ isAlone }) => hasCopies && isAlone === undefined)
  const queue = together.values()
  await Promise.all([queue, queue, queue].map(work))
  await work(faults.filter((fault) => !together.includes(fault)))
  return faults.slice(0, told).flatMap((fault) => seen.get(fault) ?? [])
}

/** Tries a fault, and ends what each try has started. @returns nothing when a person interrupts: some take minutes */
export async function tryFault<Tried extends Subject>({ rows }: Fault<Tried>, subject: Tried) {
  const { signal } = subject
  const interruption = signal.aborted ? Promise.resolve() : once(signal, 'abort')
  const findings: Row[] = []
  for (const [name, attempt] of Object.entries(rows)) {
    if (signal.aborted) break
    const tried = confirmed(name, () => attempt(subject).finally(() => subject.end()))
    findings.push(...(await Promise.race([tried, interruption.then(() => [])])))
  }
  await subject.end()
  return signal.aborted ? [] : findings
}
