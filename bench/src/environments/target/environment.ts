import { setTimeout as sleep } from 'node:timers/promises'
import { oneLine } from '@startgrid/cli/text.ts'
import { checkConformance } from '@startgrid/conformance'
import type { Role } from '@startgrid/grid/apps.ts'
import type { GeneratorOptions } from '@startgrid/loadgen'
import { chooseCores } from '@startgrid/machine/cores.ts'
import { findNginx } from '@startgrid/nginx/find.ts'
import { type CeilingServer, startNginxCeiling } from '../../drivers/ceiling.ts'
import type { Cell, Settings, TargetRecord } from '../../model/result.ts'
import { proofOf, SUITE_RUNS } from '../conformance.ts'
import type { Environment, EnvironmentOptions, Proof } from '../environment.ts'
import type { Servers } from '../servers.ts'
import { addressOf } from './origin.ts'
import { TargetServers } from './servers.ts'

/** One server that already runs: nothing is started there, nothing is stopped, and nobody accounts for it. */
export class TargetEnvironment implements Environment {
  /** Of the generator, and of the NGINX that tells its ceiling. */
  readonly cores: Settings['cores']
  readonly generator: GeneratorOptions
  readonly facts = {}
  readonly #target: TargetRecord
  readonly #pauseMs: number
  readonly #signal: AbortSignal
  #isFirst = true

  constructor(
    target: TargetRecord,
    { pauseMs }: Pick<Settings, 'pauseMs'>,
    { warn, signal }: EnvironmentOptions,
  ) {
    this.#target = target
    this.#pauseMs = pauseMs
    this.#signal = signal
    // Where the server runs is not ours to choose: what else can be said of two cores is about servers.
    this.cores = chooseCores((warning) => warning.kind === 'not-pinned' && warn(warning))
    // The person who names a server is responsible for it; a run is bounded in time.
    this.generator = { reach: 'anywhere', ...(this.cores !== null && { cpu: this.cores.generator }) }
  }

  async findProxy(): Promise<null> {
    return null
  }

  /** What responded yesterday may have been replaced. */
  fingerprint(): null {
    return null
  }

  /** As behind a proxy, for there may be one: then a `Server` header may be there, and refusals by its parser need only the right status. */
  async prove(cells: readonly Cell[]): Promise<ReadonlyMap<string, Proof>> {
    const proofs = new Map<string, Proof>()
    for (const { id, role } of cells) {
      const proof = role === null ? undefined : await this.#check(role)
      if (proof !== undefined) proofs.set(id, proof)
    }
    return proofs
  }

  /** On this machine, with an NGINX that is here already. */
  async startCeiling(): Promise<CeilingServer | undefined> {
    if (this.#signal.aborted) return undefined
    const nginx = await findNginx({ download: false })
    return nginx.kind === 'none' ? undefined : startNginxCeiling(nginx, this.cores?.server)
  }

  /** After a rest, but for the first time. @throws after an abort */
  async startServers(): Promise<Servers> {
    if (!this.#isFirst) await sleep(this.#pauseMs, undefined, { signal: this.#signal })
    this.#isFirst = false
    return new TargetServers(this.#target.origin, { cores: this.cores, signal: this.#signal })
  }

  async close(): Promise<void> {}

  /** @returns undefined after an abort */
  async #check(role: Role): Promise<Proof | undefined> {
    const { origin, absent } = this.#target
    const subject = { target: addressOf(origin), role, absent, proxied: true }
    try {
      const report = await checkConformance({ ...subject, runs: SUITE_RUNS, signal: this.#signal })
      return proofOf(report)
    } catch (error) {
      return this.#signal.aborted ? undefined : { checked: 0, differences: [oneLine(error)] }
    }
  }
}
