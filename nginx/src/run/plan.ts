import { existsSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Nginx } from '../find/find.ts'
import { type Address, claimPort, formatAddress } from '../render/address.ts'
import type { Certificate, Front } from '../render/front.ts'
import { CONF, type Place, type RenderOptions, renderNginx, TEMPORARY_DIRECTORIES } from '../render/render.ts'
import { makeCertificate, OWN_CERTIFICATE } from './certificate.ts'
import { bindRefusal } from './master.ts'

/** The configuration that an NGINX gets, and what follows from it. */
export interface Plan {
  readonly place: Place
  readonly addresses: readonly Address[]
  /** Whether a port was chosen here, so that another would do as well. */
  readonly chosePorts: boolean
  /** Asked on every address until it responds; undefined: an accepted connection will do. */
  readonly probe: string | undefined
  render(place: Place): string
}

/** What all fronts of an NGINX share. */
export type HttpOptions = Pick<RenderOptions, 'accessLog' | 'trustedProxies'>

/** What a configuration depends on. */
type Features = Pick<Nginx, 'keepaliveMinTimeout' | 'http2'>

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
  ...OWN_CERTIFICATE,
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
  // Only for this user: there may be a key in it.
  await mkdir(place.dir, { recursive: true, mode: 0o700 })
  // Includes are relative to nginx.conf.
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
  nginx: Features,
  fronts: readonly Front[],
  place: Place,
  http: HttpOptions = {},
  held: readonly Address[] = [],
): Promise<Plan> {
  const settled: Front[] = []
  for (const front of fronts) {
    const taken = new Set(settled.map(({ listen }) => listen.port))
    const listen = await settle(front.listen, taken, held)
    settled.push({
      ...front,
      listen,
      ...(front.topology === 'nginx-tls' && { certificate: await certify(front, nginx, place) }),
    })
  }
  const { keepaliveMinTimeout, http2 } = nginx
  return {
    place: withWorkers(place, place.workers),
    addresses: settled.map(addressOf),
    chosePorts: fronts.some(({ listen }) => listen.port === 0),
    // NGINX responds itself: no app is needed, and none counts a request.
    probe: '/ceiling',
    render: (where) =>
      renderNginx({ ...http, ...where, fronts: settled, keepaliveMinTimeout, ...(http2 && { http2 }) }),
  }
}

function addressOf({ listen, certificate }: Front): Address {
  return certificate === undefined ? listen : { ...listen, ca: readFileSync(certificate.certificate, 'utf8') }
}

/** What a raw configuration needs. */
interface RawConfig {
  readonly config: (place: Place) => string
  readonly listen: readonly Address[]
  readonly probe?: string
}

/** A plan for a raw configuration. @throws {Error} one sentence, if an address cannot be listened on */
export async function planConfig(raw: RawConfig, place: Place): Promise<Plan> {
  for (const address of raw.listen) await settle(address, new Set(), [])
  return {
    place: withWorkers(place, place.workers),
    addresses: raw.listen,
    chosePorts: false,
    probe: raw.probe,
    render: raw.config,
  }
}

/** @throws {Error} if this NGINX speaks no TLS */
async function certify({ certificate }: Front, { http2 }: Features, { dir }: Place): Promise<Certificate> {
  if (http2 === undefined)
    throw new Error('This NGINX was built without TLS or HTTP/2: choose another NGINX, or topology nginx.')
  return certificate ?? makeCertificate(dir)
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

/** @throws {Error} one sentence, if there cannot be so many */
export function withWorkers(place: Place, count: number): Place {
  if (Number.isInteger(count) && count >= 1 && count <= 256) return { ...place, workers: count }
  throw new Error(`${count} is not a number of workers; give a whole number from 1 to 256.`)
}
