import type { Machine } from '../machine.ts'

/** What the agent is asked, one JSON text per line. The end of the stream ends it. */
export type ToAgent =
  /** The containers of its pod: their ids by name. */
  | { watch: Readonly<Record<string, string>> }
  /** Names of containers. */
  | { begin: { app: string; proxy: string | null } }
  | { end: true }
  | { memory: readonly string[] }
  | { look: true }
  /** Opens a connection so often, one after the other. */
  | { connect: { host: string; port: number; times: number } }

/** What the agent responds, one JSON text per line for each question, and `ready` before the first. */
export type FromAgent =
  | { ready: true }
  /** Containers of which it sees no process. */
  | { unseen: string[] }
  | { begun: true }
  | { account: ContainerAccount }
  /** Highest resident bytes so far, by container; null if it has ended. */
  | { memory: Record<string, number | null> }
  | { node: NodeView }
  /** Milliseconds of each connection. */
  | { connected: number[] }
  | { error: string }

/** From `begin` to `end`. Times are in seconds; null if a process ended meanwhile, or the system does not tell. */
export interface ContainerAccount {
  seconds: number
  app: number | null
  proxy: number | null
  /** How long they were ready to run, but waited for another process than these two, as a part of the time. */
  serverWait: number | null
  /** How long a CPU limit stopped them. */
  throttled: number | null
  /** CPU time of the agent itself. */
  agent: number
}

/** A node as a container on it sees it. */
export interface NodeView {
  machine: Machine
  /** Logical CPUs that the container may use. */
  cpus: number[]
}
