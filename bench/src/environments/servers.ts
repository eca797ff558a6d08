import type { Target } from '@startgrid/grid/launcher.ts'
import {
  type CpuSeconds,
  compareSamples,
  type Disturbance,
  type Subject,
  takeSample,
} from '@startgrid/machine/accounts/sample.ts'
import type { Driver, GeneratorAccounts } from '../drivers/driver.ts'
import type { Cell } from '../model/cell.ts'
import type { LaunchRecord, Spread } from '../model/heat.ts'

/** What serves one cell: an app, and the proxy in front of it. */
export interface Server {
  /** Where the generator reaches it. */
  target: Target
  /** What runs njs, such as `njs in NGINX 1.22.1`; absent for all other apps. */
  engine?: string | undefined
  /** Why app or proxy is no longer there: a clause without the full stop. @returns null while both are */
  whyEnded(): Promise<string | null>
  /** Takes all accounts now, and when the returned function is called. */
  beginAccount(driver: Pick<Driver, 'pids'>): Promise<EndAccount>
}

/** Servers that were started together and are loaded in turn, wherever they run. Each cell is in `running` or in `failures`. */
export interface Servers {
  /** By the ids of cells. */
  running: ReadonlyMap<string, Server>
  /** Why a cell does not run: a clause without the full stop. */
  failures: ReadonlyMap<string, string>
  /** What was started for these cells, with the highest memory so far. */
  launches(cells: readonly Cell[]): Promise<LaunchRecord[]>
  /** Stops all; resolves when they are gone. @returns how the requests of clusters were spread over their workers, where anybody counts */
  stop(): Promise<Spread[]>
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
