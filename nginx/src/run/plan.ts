import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Mount } from '../find/docker.ts'
import type { Nginx } from '../find/find.ts'
import { type Address, claimPort, formatAddress } from '../render/address.ts'
import { type Front, upstreamsOf } from '../render/front.ts'
import { CONF, type Place, renderNginx, TEMPORARY_DIRECTORIES } from '../render/render.ts'
import { bindRefusal } from './master.ts'

/** The configuration that an NGINX gets, and what follows from it. */
export interface Plan {
  readonly place: Place
  readonly addresses: readonly Address[]
  readonly mounts: readonly Mount[]
  /** Whether a port was chosen here, so that another would do as well. */
  readonly chosePorts: boolean
  /** Asked on every address until it responds; undefined: an accepted connection will do. */
  readonly probe: string | undefined
  render(): string
  withWorkers(count: number): Plan
  /** The same with other fronts, or another raw configuration. */
  replace(next: readonly Front[] | ((place: Place) => string)): Promise<Plan>
}

/** A directory for one NGINX. */
interface Directory {
  readonly dir: string
  /** Whether it is ours to remove as a whole. */
  readonly own: boolean
}

/** What NGINX and this program write into a directory that is not ours. */
const WRITTEN = [
  'nginx.conf',
  'next.conf',
  'nginx.pid',
  'startgrid',
  ...TEMPORARY_DIRECTORIES,
  'stdout',
  'error.log',
  'access.log',
]

export async function createPlace(dir: string | undefined): Promise<Directory> {
  const place =
    dir === undefined
      ? { dir: await mkdtemp(join(tmpdir(), 'startgrid-nginx-')), own: true }
      : { dir, own: !existsSync(dir) }
  await removeWritten(place.dir)
  await mkdir(place.dir, { recursive: true })
  // Includes are relative to nginx.conf; in the official image conf/ is mounted beside it under the same name.
  await symlink(CONF, join(place.dir, 'startgrid'))
  return place
}

export async function removePlace({ dir, own }: Directory): Promise<void> {
  if (own) await rm(dir, { recursive: true, force: true })
  else await removeWritten(dir)
}

async function removeWritten(dir: string): Promise<void> {
  for (const name of WRITTEN) await rm(join(dir, name), { recursive: true, force: true })
}

/**
 * A configuration for fronts, with their ports checked and chosen.
 * @param held addresses that the same NGINX listens on already
 * @throws {Error} one sentence, if an address cannot be listened on or a front cannot work
 */
export async function planFronts(
  nginx: Pick<Nginx, 'keepaliveMinTimeout'>,
  fronts: readonly Front[],
  place: Place,
  accessLog = 'off',
  held: readonly Address[] = [],
): Promise<Plan> {
  const settled: Front[] = []
  for (const front of fronts) {
    const taken = new Set(settled.map(({ listen }) => listen.port))
    settled.push({ ...front, listen: await settle(front.listen, taken, held) })
  }
  const chosePorts = fronts.some(({ listen }) => listen.port === 0)
  return frontsPlan(nginx, settled, withWorkers(place, place.workers), accessLog, chosePorts)
}

function frontsPlan(
  nginx: Pick<Nginx, 'keepaliveMinTimeout'>,
  fronts: readonly Front[],
  place: Place,
  accessLog: string,
  chosePorts: boolean,
): Plan {
  const addresses = fronts.map(({ listen }) => listen)
  const { keepaliveMinTimeout } = nginx
  return {
    place,
    addresses,
    mounts: frontMounts(fronts, place.dir),
    chosePorts,
    // NGINX responds itself: no app is needed, and none counts a request.
    probe: '/ceiling',
    render: () => renderNginx({ ...place, fronts, accessLog, keepaliveMinTimeout }),
    withWorkers: (count) => frontsPlan(nginx, fronts, withWorkers(place, count), accessLog, chosePorts),
    replace: (next) => {
      if (typeof next === 'function')
        throw new Error('This NGINX was started with fronts; reload it with fronts.')
      return planFronts(nginx, next, place, accessLog, addresses)
    },
  }
}

/** What a raw configuration needs. */
interface RawConfig {
  readonly config: (place: Place) => string
  readonly listen: readonly Address[]
  readonly mounts?: readonly Mount[]
  readonly probe?: string
}

/** A plan for a raw configuration. @throws {Error} one sentence, if an address cannot be listened on */
export async function planConfig(raw: RawConfig, place: Place): Promise<Plan> {
  for (const address of raw.listen) await settle(address, new Set(), [])
  return rawPlan(raw, withWorkers(place, place.workers))
}

function rawPlan(raw: RawConfig, place: Place): Plan {
  return {
    place,
    addresses: raw.listen,
    mounts: [...placeMounts(place.dir), ...(raw.mounts ?? [])],
    chosePorts: false,
    probe: raw.probe,
    render: () => raw.config(place),
    withWorkers: (count) => rawPlan(raw, withWorkers(place, count)),
    replace: async (next) => {
      if (typeof next !== 'function')
        throw new Error('This NGINX was started with a configuration; reload it with one.')
      return rawPlan({ ...raw, config: next }, place)
    },
  }
}

function placeMounts(dir: string): Mount[] {
  return [{ path: dir, writable: true }, { path: CONF }]
}

function frontMounts(fronts: readonly Front[], dir: string): Mount[] {
  const paths = fronts.flatMap((front) => [
    ...upstreamsOf(front).flatMap((one) => ('socketPath' in one ? [dirname(one.socketPath)] : [])),
    ...(front.serveAssets === undefined ? [] : [front.serveAssets]),
  ])
  return [...placeMounts(dir), ...[...new Set(paths)].map((path) => ({ path }))]
}

/** The address with a real port. A given port is tested first: NGINX would retry for seconds before it reports a taken port. */
async function settle(
  address: Address,
  taken: ReadonlySet<number>,
  held: readonly Address[],
): Promise<Address> {
  if (address.port !== 0 && held.some((other) => formatAddress(other) === formatAddress(address)))
    return address
  for (;;) {
    const port = await claimPort(address).catch((error: NodeJS.ErrnoException) => {
      throw new Error(bindRefusal(formatAddress(address), error.code, error.message))
    })
    if (address.port !== 0 || !taken.has(port)) return { ...address, port }
  }
}

function withWorkers(place: Place, count: number): Place {
  if (Number.isInteger(count) && count >= 1 && count <= 256) return { ...place, workers: count }
  throw new Error(`${count} is not a number of workers; give a whole number from 1 to 256.`)
}
