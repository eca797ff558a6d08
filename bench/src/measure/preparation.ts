import type { Progress } from '@startgrid/cli/progress.ts'
import { oneLine } from '@startgrid/cli/text.ts'
import type { GeneratorOptions } from '@startgrid/loadgen'
import { inspectMachine, watchSteal } from '@startgrid/machine/state.ts'
import { measureCeiling } from '../drivers/ceiling.ts'
import type { Driver } from '../drivers/driver.ts'
import { proveCells } from '../environments/conformance.ts'
import { openDocker } from '../environments/docker/environment.ts'
import type { Platform, PlatformOptions } from '../environments/environment.ts'
import { NativePlatform } from '../environments/native/environment.ts'
import { TargetPlatform } from '../environments/target/environment.ts'
import { cautionsOf, seenCautions } from '../judge/derive-warnings.ts'
import type { Result } from '../model/result.ts'
import { type Caution, describeCaution } from '../model/warnings.ts'

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
  platform: Platform
  driver: Kind
  warn(caution: Caution): void
  /** Makes the figures again and saves. A full disk must not end the run. */
  store(): void
}

export interface Preparation<Kind extends Driver> extends Surroundings {
  /** @throws {LoadError} with a sentence if it is not there */
  createDriver(options: GeneratorOptions): Promise<Kind>
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
  const { progress, save, figures } = preparation
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
  const platform = await openPlatform(result, { ...preparation, warn }).catch((error: unknown) => {
    if (!preparation.signal.aborted) throw error
  })
  if (platform === undefined) return store()
  adoptFacts(result, platform, warn)
  Object.assign(result.settings, { cores: platform.cores })
  try {
    const driver = await preparation.createDriver(platform.generator)
    result.driver.version = driver.version
    try {
      const equipment = { ...preparation, result, platform, driver, warn, store }
      await measureOn(equipment, measure)
    } finally {
      await driver.stop()
      store()
    }
  } finally {
    await platform.close()
  }
}

/** By the mode of the result. */
async function openPlatform(
  { mode, target, cells, settings }: Result,
  options: PlatformOptions,
): Promise<Platform> {
  if (mode === 'docker') return openDocker(cells, options)
  if (target !== null) return new TargetPlatform(target, settings, options)
  return new NativePlatform(options)
}

/** What a resumed run finds changed is told. */
function adoptFacts(result: Result, { facts }: Platform, warn: (caution: Caution) => void): void {
  const { machine, versions } = facts
  const compare = (name: string, before: string, now = before) => {
    if (result.heats.length > 0 && before !== now) warn({ kind: 'other-versions', name, before, now })
  }
  compare('The operating system', result.machine.os, machine?.os)
  compare('Node', result.versions.node, versions?.node)
  Object.assign(result, facts)
}

/** What every measurement does while generator and platform are there. */
async function measureOn<Kind extends Driver>(
  equipment: Equipment<Kind>,
  measure: (equipment: Equipment<Kind>) => Promise<void>,
): Promise<void> {
  const { result, platform, driver, signal, warn } = equipment
  const steal = watchSteal()
  const beganAt = performance.now()
  for (const caution of await inspectMachine(signal)) warn(caution)
  await findProxy(equipment)
  await prove(equipment)
  const ceiling = { driver, connections: 64, signal }
  result.driver.ceiling =
    (await measureCeiling(() => platform.startCeiling(), ceiling, warn)) ?? result.driver.ceiling
  await measure(equipment)
  for (const caution of steal((performance.now() - beganAt) / 1000)) warn(caution)
  if (!signal.aborted) result.finishedAt = new Date().toISOString()
}

async function findProxy({ result, platform, warn }: Equipment): Promise<void> {
  const found = await platform.findProxy(result.cells)
  if (result.nginx !== null && found !== null && result.nginx.version !== found.version)
    warn({ kind: 'other-versions', name: 'NGINX', before: result.nginx.version, now: found.version })
  result.nginx = found
}

/** The contract's suite, on cells that have no verdict yet. */
async function prove({ result, platform, signal, progress }: Equipment): Promise<void> {
  const proven = new Set(result.conformance.map(({ cell }) => cell))
  const open = result.cells.filter(({ id }) => !proven.has(id))
  const who = (role: string) => (result.mode === 'target' ? 'the server keeps' : `all ${role} apps keep`)
  const onRole = (role: string) => progress.say(`Checking that ${who(role)} the contract.`)
  result.conformance.push(...(await proveCells(open, { platform, signal, onRole })))
}
