import { readFileSync } from 'node:fs'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Nginx } from '../find/find.ts'
import { type Address, claimPort, formatAddress } from '../render/address.ts'
import type { Certificate, Front } from '../render/front.ts'
import { CONF, type Place, type RenderOptions, renderNginx } from '../render/render.ts'
import { makeCertificate } from './certificate.ts'
import { bindRefusal } from './master.ts'

/** The configuration that an NGINX gets, and what follows from it. */
export interface Plan {
  readonly config: string
  readonly addresses: readonly Address[]
  /** Whether a port was chosen here, so that another would do as well. */
  readonly chosePorts: boolean
  /** Asked on every address until it responds; undefined: an accepted connection will do. */
  readonly probe: string | undefined
}

/** What all fronts of an NGINX share. */
export type HttpOptions = Pick<RenderOptions, 'accessLog' | 'trustedProxies'>

/** Makes the directory of an NGINX, if it is not there, and puts what its configuration includes into it. */
export async function prepareDirectory(dir: string): Promise<void> {
  // Only for this user: there may be a key in it.
  await mkdir(dir, { recursive: true, mode: 0o700 })
  // Includes are relative to nginx.conf.
  await symlink(CONF, join(dir, 'startgrid'))
}

/**
 * A configuration for fronts, with their ports checked and chosen.
 * @throws {Error} one sentence, if an address cannot be listened on or a front cannot work
 */
export async function planFronts(
  { keepaliveMinTimeout, http2 }: Pick<Nginx, 'keepaliveMinTimeout' | 'http2'>,
  fronts: readonly Front[],
  place: Place,
  http: HttpOptions,
): Promise<Plan> {
  const settled: Front[] = []
  for (const front of fronts) {
    const listen = await settle(
      front.listen,
      settled.map((one) => one.listen.port),
    )
    settled.push({ ...front, listen, ...(await certificateOf(front, http2, place)) })
  }
  return {
    config: renderNginx({
      ...{ ...http, ...place, fronts: settled, keepaliveMinTimeout },
      ...(http2 && { http2 }),
    }),
    addresses: settled.map(addressOf),
    chosePorts: fronts.some(({ listen }) => listen.port === 0),
    // NGINX responds itself: no app is needed, and none counts a request.
    probe: '/ceiling',
  }
}

function addressOf({ listen, certificate }: Front): Address {
  return certificate === undefined ? listen : { ...listen, ca: readFileSync(certificate.certificate, 'utf8') }
}

/** A plan for a raw configuration. @throws {Error} one sentence, if an address cannot be listened on */
export async function planConfig(config: string, addresses: readonly Address[]): Promise<Plan> {
  for (const address of addresses) await settle(address, [])
  return { config, addresses, chosePorts: false, probe: undefined }
}

/** @throws {Error} if this NGINX speaks no TLS */
async function certificateOf(
  { topology, certificate }: Front,
  http2: Nginx['http2'],
  { dir }: Place,
): Promise<{ certificate?: Certificate }> {
  if (topology !== 'nginx-tls') return {}
  if (http2 === undefined)
    throw new Error('This NGINX was built without TLS or HTTP/2: choose another NGINX, or topology nginx.')
  return { certificate: certificate ?? (await makeCertificate(dir)) }
}

/** The address with a real port. A given port is tested first: NGINX would retry for seconds before it reports a taken port. */
async function settle(address: Address, taken: readonly number[]): Promise<Address> {
  for (;;) {
    const port = await claimPort(address).catch((error: NodeJS.ErrnoException) => {
      throw new Error(bindRefusal(formatAddress(address), error.code, error.message))
    })
    if (address.port !== 0 || !taken.includes(port)) return { ...address, port }
  }
}
