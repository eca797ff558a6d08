import type { GeneratorOptions } from '@startgrid/loadgen'
import { readVersions } from '@startgrid/machine/provenance.ts'
import autocannon from 'autocannon/package.json' with { type: 'json' }
import type { DriverRecord } from '../model/provenance.ts'
import { AutocannonDriver } from './autocannon.ts'
import type { Driver } from './driver.ts'
import { StartgridDriver } from './startgrid.ts'
import { WrkDriver, wrkVersion } from './wrk.ts'

/**
 * Makes a driver ready to offer loads.
 * @param options how Startgrid's generator is started; of foreign ones only the core that they may use counts
 * @throws {LoadError} with a sentence: it is not installed, or cannot be started
 */
export async function createDriver(name: DriverRecord['name'], options: GeneratorOptions): Promise<Driver> {
  const { cpu } = options
  if (name === 'wrk') return new WrkDriver(await wrkVersion(), cpu)
  if (name === 'autocannon') {
    const driver = new AutocannonDriver(autocannon.version, cpu)
    await driver.start()
    return driver
  }
  return createStartgridDriver(options)
}

/** What offers the load of each cell: mostly the same, and others where a study asks for them. */
export class Drivers {
  readonly usual: StartgridDriver
  readonly #options: GeneratorOptions
  readonly #others = new Map<Driver['name'], Driver>()

  constructor(usual: StartgridDriver, options: GeneratorOptions) {
    this.usual = usual
    this.#options = options
  }

  /** @param name undefined: the usual one; @throws {LoadError} with a sentence, if it is not installed */
  async get(name: Driver['name'] | undefined): Promise<Driver> {
    if (name === undefined || name === this.usual.name) return this.usual
    const driver = this.#others.get(name) ?? (await createDriver(name, this.#options))
    this.#others.set(name, driver)
    return driver
  }

  async stop(): Promise<void> {
    await Promise.all([this.usual, ...this.#others.values()].map((driver) => driver.stop()))
  }
}

/** The one that open loops need. @throws {LoadError} if it cannot be started */
export async function createStartgridDriver(options: GeneratorOptions): Promise<StartgridDriver> {
  const driver = new StartgridDriver(readVersions().startgrid, options)
  await driver.start()
  return driver
}
