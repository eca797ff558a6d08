import { once } from 'node:events'
import type { Server as Link } from 'node:net'
import { type Address, claimPort, formatAddress } from '@startgrid/nginx/address.ts'
import type { Nginx } from '@startgrid/nginx/find.ts'
import { type Instance, startNginx } from '@startgrid/nginx/instance.ts'
import { type MainOptions, renderMain, renderTemporaryPaths } from '@startgrid/nginx/render.ts'
import { formatTarget, type Target } from '@startgrid/wire/target.ts'
import { Clients, type ClientsOptions } from './clients.ts'
import { nearEnd, openLink } from './link.ts'
import type { Routes, Server } from './routes.ts'

/** Of an orchestrator, in milliseconds. */
export interface Patience {
  /** From SIGTERM, and the last response, to SIGKILL. */
  readonly graceMs: number
  /** Load balancers go on to send new connections for so long. */
  readonly drainDelayMs: number
}

/** A server under one fault, and what is known of it. Whatever was started through it ends with it. */
export abstract class Subject {
  abstract readonly routes: Routes
  /** Where it listens, if that is not where PORT says. */
  elsewhere: string | undefined
  readonly patience: Patience = { graceMs: 10_000, drainDelayMs: 0 }
  /** It promises that no request meets a kept connection that is being closed. RFC 9112 (9.6) does not. */
  readonly keepsIdle: boolean = false
  readonly nginx: Nginx | undefined
  /** Aborted when a person interrupts. */
  readonly signal: AbortSignal
  readonly #instances = new Set<Instance>()
  readonly #links = new Set<Link>()
  readonly #clients = new Set<Clients>()

  constructor(nginx: Nginx | undefined, signal: AbortSignal) {
    this.nginx = nginx
    this.signal = signal
  }

  /** Starts it, and waits until it responds. @param port default: a free one @throws {Error} a sentence */
  abstract start(port?: number): Promise<Server>

  /** Ends what was started. */
  protected abstract endServers(): Promise<void>

  /** Starts an NGINX with two workers in front of servers, which it asks in turn. @returns where it listens @throws {Error} one sentence */
  async front(...upstreams: readonly Target[]): Promise<Target> {
    const listen = { host: '127.0.0.1', port: await claimPort({ host: '127.0.0.1', port: 0 }) }
    return this.runNginx({ config: (main) => plainFront(main, listen, upstreams), listen: [listen] })
  }

  protected async runNginx(wanted: Parameters<typeof startNginx>[1]): Promise<Target> {
    if (this.nginx === undefined) throw new Error('There is no NGINX.')
    const instance = await startNginx(this.nginx, { ...wanted, workers: 2 })
    this.#instances.add(instance)
    const [address] = instance.addresses
    if (address === undefined) throw new Error('NGINX listens nowhere.')
    return address
  }

  /** @returns where a link of 15 ms one way begins, as between two cities; it ends at `target` */
  async link(target: Target): Promise<Target> {
    const link = await openLink(target, 15)
    this.#links.add(link)
    return nearEnd(link)
  }

  /** Starts clients, which end with the subject at the latest: also when a fault throws. */
  clients(options: ClientsOptions): Clients {
    const clients = new Clients(options)
    this.#clients.add(clients)
    return clients
  }

  /** Ends what still runs. */
  async end(): Promise<void> {
    for (const clients of this.#clients) void clients.stop()
    await Promise.all([...this.#instances].map((instance) => instance.stop(1_000)))
    for (const link of this.#links) link.close()
    await this.endServers()
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

/** What was seen of a server under a fault. */
export interface Finding {
  /** What was tried: `slow reader`. */
  readonly row: string
  readonly kind: 'ok' | 'warning' | 'fault' | 'not tested'
  /** What it does, in a word: `lost`, `grows`, `ok`. */
  readonly word: string
  /** A sentence with a figure. */
  readonly text: string
  /** No busy machine explains it. */
  readonly isCertain?: true
}

export const found = (row: string, word: string, text: string): Finding => ({
  row,
  kind: 'fault',
  word,
  text,
})
/** The server has ended, or a count is wrong. */
export const certain = (row: string, word: string, text: string): Finding => ({
  ...found(row, word, text),
  isCertain: true,
})
export const warned = (row: string, text: string): Finding => ({
  row,
  kind: 'warning',
  word: 'warning',
  text,
})
export const fine = (row: string, text: string): Finding => ({ row, kind: 'ok', word: 'ok', text })
export const untested = (row: string, text: string): Finding => ({
  row,
  kind: 'not tested',
  word: 'not tested',
  text,
})

/** A failure that happens in production, and what a server must do then: rows of a report, and a part of docs/reliability.md. */
export interface Fault {
  /** Its name on the command line: `stop`. */
  readonly name: string
  /** Apps that may be tried at the same time without disturbing each other. */
  readonly atOnce: number
  run(subject: Subject): Promise<readonly Finding[]>
}

/** Tries a fault, and ends what it has started. An error during the try is a finding, so nothing passes untested. */
export async function tryFault(
  name: string,
  subject: Subject,
  run: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  try {
    return await Promise.race([run(), interrupted(subject.signal)])
  } catch (error) {
    return [certain(name, 'fails', messageOf(error))]
  } finally {
    await subject.end()
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Rejects when a person interrupts: some faults take minutes. */
async function interrupted(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort')
  throw new Error('It was interrupted.')
}

/** What a busy machine may explain counts if it is found three times in a row; so does an attempt that fails. @param row of that */
export async function confirmed(
  row: string,
  attempt: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  let suspects: ReadonlySet<string> | undefined
  for (let left = 2; ; left--) {
    const findings = await attempt().catch((error: unknown) => [found(row, 'fails', messageOf(error))])
    const isDoubted = ({ kind, isCertain }: Finding) => kind === 'fault' && isCertain === undefined
    const again = findings.filter((one) => isDoubted(one) && (suspects?.has(one.row) ?? true))
    if (left === 0 || again.length === 0)
      return findings.map((one) =>
        isDoubted(one) && !again.includes(one) ? warned(one.row, `not every time: ${one.text}`) : one,
      )
    suspects = new Set(again.map(({ row }) => row))
  }
}
