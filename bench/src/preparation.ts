import { findNginx, type Nginx } from '@startgrid/nginx/find.ts'
import { type Caution, cautionsOf, describeCaution } from './cautions.ts'
import { proveCells } from './conformity.ts'
import { chooseCores } from './cores.ts'
import { measureCeiling } from './drivers/ceiling.ts'
import type { Driver } from './drivers/driver.ts'
import { inspectMachine, watchSteal } from './machine-state.ts'
import type { Progress } from './progress.ts'
import { findProxy, versionOf } from './proxy.ts'
import type { Result } from './results.ts'
import { oneLine } from './text.ts'

/** What every measurement does before and after: the machine, NGINX, the driver and its ceiling, the contract, cautions, saving. */

export interface Surroundings {
  progress: Progress
  /** Called with the result so far after every heat or launch: an interruption loses the one in flight at most. */
  save(result: Result): void
  /** An abort stops all servers; what was measured is in the result. */
  signal: AbortSignal
  download: boolean
}

/** What a measurement works with. */
export interface Equipment<Kind extends Driver = Driver> extends Surroundings {
  result: Result
  nginx: Nginx | undefined
  driver: Kind
  warn(caution: Caution): void
  /** Makes the figures again and saves. A full disk must not end the run. */
  store(): void
}

export interface Preparation<Kind extends Driver> extends Surroundings {
  /** @throws {LoadError} with a sentence if it is not there */
  createDriver(options: { cpu: number | undefined }): Promise<Kind>
  /** The figures that follow from what was measured so far; part of the result. */
  figures(result: Result): Partial<Result>
}

/**
 * Prepares, lets `measure` fill the result in place, and clears up: driver stopped, result saved, finished unless it was aborted.
 * @throws {LoadError} with a sentence if the driver is not there
 */
export async function withEquipment<Kind extends Driver>(
  result: Result,
  preparation: Preparation<Kind>,
  measure: (equipment: Equipment<Kind>) => Promise<void>,
): Promise<void> {
  const { progress, signal, save, figures } = preparation
  const seen = seenCautions(result)
  const warn = (caution: Caution): void => {
    const text = describeCaution(caution)
    if (seen.some((one) => describeCaution(one) === text)) return
    seen.push(caution)
    progress.say(text)
  }
  const store = (): void => {
    Object.assign(result, figures(result))
    result.cautions = [...seen, ...cautionsOf(result)]
    try {
      save(result)
    } catch (error) {
      warn({ kind: 'not-saved', reason: oneLine(error) })
      result.cautions = [...seen, ...cautionsOf(result)]
    }
  }
  const cores = chooseCores(warn)
  const driver = await preparation.createDriver({ cpu: cores?.generator })
  Object.assign(result.settings, { cores })
  result.driver.version = driver.version
  const steal = watchSteal()
  const beganAt = performance.now()
  try {
    for (const caution of await inspectMachine(signal)) warn(caution)
    const nginx = await findProxy(result.cells, preparation, warn, progress)
    const found = nginx ? versionOf(nginx) : null
    if (result.nginx !== null && found !== null && result.nginx.version !== found.version)
      warn({ kind: 'other-versions', name: 'NGINX', before: result.nginx.version, now: found.version })
    result.nginx = found
    await prove(result, { ...preparation, nginx })
    const bench = { driver, cpu: cores?.server, connections: 64, signal }
    const still = nginx ?? (await findLocalNginx(signal))
    if (still) result.driver.ceiling = await measureCeiling(still, bench, warn)
    await measure({ ...preparation, result, nginx, driver, warn, store })
    for (const caution of steal((performance.now() - beganAt) / 1000)) warn(caution)
    if (!signal.aborted) result.finishedAt = new Date().toISOString()
  } finally {
    await driver.stop()
    store()
  }
}

/** For the ceiling alone an NGINX that is here already is good enough. */
async function findLocalNginx(signal: AbortSignal): Promise<Nginx | undefined> {
  if (signal.aborted) return undefined
  const found = await findNginx({ download: false })
  return found.kind === 'none' ? undefined : found
}

/** Of a resumed run, what was seen before; what follows from its figures is made again. */
function seenCautions(result: Result): Caution[] {
  const found = new Set(cautionsOf(result).map(describeCaution))
  return result.cautions.filter((caution) => !found.has(describeCaution(caution)))
}

/** The contract's suite, on cells that have no verdict yet. */
async function prove(
  result: Result,
  { nginx, signal, progress }: Surroundings & { nginx: Nginx | undefined },
): Promise<void> {
  const proven = new Set(result.conformance.map(({ cell }) => cell))
  const open = result.cells.filter(({ id }) => !proven.has(id))
  const onRole = (role: string) => progress.say(`Checking that all ${role} apps keep the contract.`)
  result.conformance.push(...(await proveCells(open, { nginx, signal, onRole })))
}
