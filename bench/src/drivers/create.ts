import type { GeneratorOptions } from '@startgrid/loadgen'
import { readVersions } from '@startgrid/machine/provenance.ts'
import autocannon from 'autocannon/package.json' with { type: 'json' }
import type { DriverRecord } from '../model/result.ts'
import { AutocannonDriver } from './autocannon.ts'
import type { Driver } from './driver.ts'
import { StartgridDriver } from './startgrid.ts'
import { WrkDriver } from './wrk.ts'
import { wrkVersion } from './wrk-process.ts'

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

/** The one that open loops need. @throws {LoadError} if it cannot be started */
export async function createStartgridDriver(options: GeneratorOptions): Promise<StartgridDriver> {
  const driver = new StartgridDriver(readVersions().startgrid, options)
  await driver.start()
  return driver
}
