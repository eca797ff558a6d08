import { oneLine } from '@startgrid/cli/text.ts'
import type { Launch as Started, Target } from '@startgrid/grid/launcher.ts'
import { type Lineup, startLineup } from '@startgrid/grid/lineup.ts'
import { peakMemory, serverPids } from '@startgrid/machine/processes.ts'
import type { Nginx } from '@startgrid/nginx/find.ts'
import type { Driver } from '../../drivers/driver.ts'
import { appOf, launchName } from '../../experiment/cells.ts'
import type { Cell, LaunchRecord, Settings } from '../../model/result.ts'
import { beginAccountOf, type EndAccount, type Servers } from '../servers.ts'

interface NativeOptions {
  nginx: Nginx | undefined
  cores: Settings['cores']
}

/**
 * Starts the apps of these cells, and NGINX in front of all if one of them needs it, as processes of this machine.
 * @throws {Error} if NGINX does not start
 */
export async function startNativeServers(
  cells: readonly Cell[],
  { nginx, cores }: NativeOptions,
): Promise<Servers> {
  const apps = [...new Map(cells.map((cell) => [cell.app, appOf(cell)])).values()]
  const topologies = [...new Set(cells.map(({ topology }) => topology))]
  const lineup = await startLineup({ apps, topologies, nginx, cpu: cores?.server })
  return new NativeServers(lineup, cores)
}

/** Processes of this machine, and what its kernel says of them. */
class NativeServers implements Servers {
  readonly #lineup: Lineup
  readonly #cores: Settings['cores']

  constructor(lineup: Lineup, cores: Settings['cores']) {
    this.#lineup = lineup
    this.#cores = cores
  }

  target(cell: Cell): Target | undefined {
    return this.#lineup.target(appOf(cell), cell.topology)
  }

  whyMissing({ app, topology }: Cell): string {
    const { failures } = this.#lineup
    const failure = failures.get(app)?.replace(`${app} `, 'the app ') ?? failures.get(topology)
    return oneLine(failure ?? 'there is no NGINX')
  }

  engine(cell: Cell): string | null {
    const { engine, nginx } = this.#launched(cell)?.ready ?? {}
    return engine === undefined ? null : `${engine} in NGINX ${nginx}`
  }

  async whyEnded(cell: Cell): Promise<string | null> {
    const { exitCode = null, signalCode = null } = this.#launched(cell)?.child ?? {}
    if (exitCode !== null) return `the app ended with exit code ${exitCode}`
    if (signalCode !== null) return `the app was ended by ${signalCode}`
    return cell.topology !== 'direct' && this.#lineup.proxyPids().length === 0 ? 'NGINX ended' : null
  }

  async beginAccount(cell: Cell, driver: Pick<Driver, 'pids'>): Promise<EndAccount> {
    const launched = this.#launched(cell)
    return beginAccountOf({
      app: launched && serverPids(launched),
      proxy: cell.topology === 'direct' ? [] : this.#lineup.proxyPids(),
      generator: driver.pids(),
      cores: this.#cores,
    })
  }

  async launches(cells: readonly Cell[]): Promise<LaunchRecord[]> {
    const started = new Map<string, Started>()
    for (const cell of cells) {
      const one = this.#launched(cell)
      if (one !== undefined) started.set(launchName(cell), one)
    }
    const launches = [...started].map(([app, one]) => ({
      app,
      peakMemory: peakMemory(serverPids(one)) ?? null,
    }))
    const proxy = this.#lineup.proxyPids()
    if (proxy.length > 0) launches.push({ app: 'nginx', peakMemory: peakMemory(proxy) ?? null })
    return launches
  }

  stop(): Promise<void> {
    return this.#lineup.stop()
  }

  #launched(cell: Cell): Started | undefined {
    return this.#lineup.launched(appOf(cell), cell.topology)
  }
}
