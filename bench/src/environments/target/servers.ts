import type { Driver } from '../../drivers/driver.ts'
import type { Cell, LaunchRecord, Settings } from '../../model/result.ts'
import { beginAccountOf, type EndAccount, type Servers } from '../servers.ts'
import { type Address, addressOf, whySilent } from './origin.ts'

/** A server that runs somewhere before the run and after it: only the generator is accounted for, and nothing is stopped. */
export class TargetServers implements Servers {
  readonly #origin: string
  readonly #cores: Settings['cores']
  readonly #signal: AbortSignal

  constructor(origin: string, { cores, signal }: { cores: Settings['cores']; signal: AbortSignal }) {
    this.#origin = origin
    this.#cores = cores
    this.#signal = signal
  }

  target(): Address {
    return addressOf(this.#origin)
  }

  whyMissing(): string {
    return 'it cannot be reached'
  }

  engine(): null {
    return null
  }

  async whyEnded(): Promise<string | null> {
    const reason = await whySilent(this.#origin, { signal: this.#signal })
    return reason === null ? null : `the server no longer responds (${reason})`
  }

  /** Nobody says which processes serve, nor on which core. */
  async beginAccount(_cell: Cell, driver: Pick<Driver, 'pids'>): Promise<EndAccount> {
    const subject = { app: undefined, proxy: [], generator: driver.pids(), cores: this.#cores }
    const end = beginAccountOf(subject)
    return async () => {
      const accountFor = await end()
      return (own) => {
        const { cpuSeconds, disturbance } = accountFor(own)
        return { cpuSeconds: { ...cpuSeconds, proxy: null }, disturbance }
      }
    }
  }

  async launches(): Promise<LaunchRecord[]> {
    return []
  }

  async stop(): Promise<void> {}
}
