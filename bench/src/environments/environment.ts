import type { Progress } from '@startgrid/cli/progress.ts'
import type { CeilingServer } from '../drivers/ceiling.ts'
import type { GeneratorSource } from '../drivers/generator.ts'
import type { Cell, ConformanceRecord, NginxVersion, Run, Settings } from '../model/result.ts'
import type { Warning } from '../model/warnings.ts'
import type { Servers } from './servers.ts'

/**
 * Where servers run and how they are reached there: one implementation per mode of a result, and one for the systems of studies. The engine
 * works with this alone.
 *
 * Of one run, in this order: `findProxy`, `fingerprint` and `prove`, `startCeiling`, then per heat `startServers`, and at the end
 * `close`. What is started for a heat is a `Servers`: it says where a cell is reached, takes the accounts of CPU and memory around each slice,
 * and stops all. The load is offered by a driver; `generator` says how its process starts, such as inside of a container.
 */
export interface Environment {
  /** The cores of the servers and of the generator; null where they are not kept apart. */
  readonly cores: Settings['cores']
  /** How Startgrid's generator is started there. */
  readonly generator: GeneratorSource
  /** What a result says otherwise than of servers that run as processes of this machine. */
  readonly facts: Partial<Pick<Run, 'machine' | 'versions'>>
  /** Finds the NGINX that cells need. Without one they are marked as skipped. @returns null if none is needed or found */
  findProxy(cells: readonly Cell[]): Promise<NginxVersion | null>
  /** Hash of all that decides the suite's verdict on a cell; null if that cannot be known, so that nothing is remembered. */
  fingerprint(cell: Cell): string | null
  /** Runs the contract's suite on cells. @returns verdicts by cell; after an abort some are missing */
  prove(cells: readonly Cell[]): Promise<ReadonlyMap<string, Proof>>
  /** An NGINX that responds itself, on the core of the servers. @returns undefined if there is none */
  startCeiling(): Promise<CeilingServer | undefined>
  /**
   * Starts the servers of these cells afresh. One that does not come up is missing; the rest goes on.
   * @throws {Error} if none can be started, or NGINX does not start
   */
  startServers(cells: readonly Cell[]): Promise<Servers>
  /** Removes what is kept for the whole run. Called once, after the generator was stopped. */
  close(): Promise<void>
}

export interface EnvironmentOptions {
  progress: Progress
  warn(warning: Warning): void
  /** An abort ends what takes long. */
  signal: AbortSignal
  /** Whether NGINX may be fetched if this machine has none. */
  download: boolean
}

/** What the suite found on one cell. */
export type Proof = Pick<ConformanceRecord, 'checked' | 'differences'>
