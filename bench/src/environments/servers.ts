import type { Target } from '@startgrid/grid/launcher.ts'
import {
  type CpuSeconds,
  compareSamples,
  type Disturbance,
  type Subject,
  takeSample,
} from '@startgrid/machine/accounts/sample.ts'
import type { Driver, GeneratorAccounts } from '../drivers/driver.ts'
import type { Cell, LaunchRecord, Spread } from '../model/result.ts'

/** Servers that were started together and are loaded in turn, wherever they run. What is said of a cell is said of its app and its proxy. */
export interface Servers {
  /** Where the generator reaches a cell. @returns undefined if it cannot; `whyMissing` then says why */
  target(cell: Cell): Target | undefined
  /** A clause without the full stop. */
  whyMissing(cell: Cell): string
  /** What runs njs, such as `njs in NGINX 1.22.1`; null for all other apps. */
  engine(cell: Cell): string | null
  /** Why app or proxy is no longer there: a clause without the full stop. @returns null while both are */
  whyEnded(cell: Cell): Promise<string | null>
  /** Takes all accounts now, and when the returned function is called. */
  beginAccount(cell: Cell, driver: Pick<Driver, 'pids'>): Promise<EndAccount>
  /** What was started for these cells, with the highest memory so far. */
  launches(cells: readonly Cell[]): Promise<LaunchRecord[]>
  /** Stops all; resolves when they are gone. */
  stop(): Promise<void>
  /** After `stop`: how the requests of clusters were spread over their workers, where anybody counts. */
  spreads?(): Spread[]
}

/** The account of the time since; it is worked out when the load has said what it knows of its generator. */
export type EndAccount = () => Promise<(own: GeneratorAccounts) => Account>

/** What a load took, and what others took meanwhile. */
export interface Account {
  cpuSeconds: CpuSeconds
  disturbance: Disturbance
  /** Why the load does not count, whatever it measured: a clause. It is offered again. */
  voidBecause?: string
}

/** Begins the account of processes that this machine's kernel runs. */
export function beginAccountOf(subject: Subject): EndAccount {
  const before = takeSample(subject)
  return async () => {
    const after = takeSample(subject)
    return (own) => compareSamples(before, after, own)
  }
}
