import { readFileSync } from 'node:fs'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Nginx } from '../find/find.ts'
import { type Address, claimPort, formatAddress } from '../render/address.ts'
import { CONF, type Front, type MainOptions, type RenderOptions, renderNginx } from '../render/render.ts'
import { makeCertificate } from './certificate.ts'
import { bindRefusal } from './master.ts'

/** For fronts, whose configuration is made here, or for a whole configuration of the caller's. */
export type Wanted =
  | ({ readonly fronts: readonly Front[] } & Pick<RenderOptions, 'accessLog' | 'trustedProxies'>)
  | {
      /** `renderMain(main)` has the part before the `http` block. */
      readonly config: (main: MainOptions) => string
      /** What it listens on (TCP): the start is complete when all of them accept. */
      readonly listen: readonly Address[]
    }

/** An NGINX that is ready to be started. */
export interface Setup extends MainOptions {
  readonly config: string
  /** What it listens on, with real ports. */
  readonly addresses: readonly Address[]
  /** Whether a port was chosen here, so that another would do as well. */
  readonly chosePorts: boolean
  /** Asked on every address until it responds; undefined: an accepted connection will do. */
  readonly probe: string | undefined
}

/**
 * Makes the directory of an NGINX, if it is not there, with what its configuration includes, and checks and chooses its ports.
 * @throws {Error} one sentence, if an address cannot be listened on or a front cannot work
 */
export async function setUp(
  { keepaliveMinTimeout, http2 }: Pick<Nginx, 'keepaliveMinTimeout' | 'http2'>,
  wanted: Wanted,
  main: MainOptions,
): Promise<Setup> {
  // Only for this user: there may be a key in it.
  await mkdir(main.dir, { recursive: true, mode: 0o700 })
  // Includes are relative to nginx.conf.
  await symlink(CONF, join(main.dir, 'startgrid'))
  if ('config' in wanted) {
    for (const address of wanted.listen) await settle(address, [])
    const config = wanted.config(main)
    return { ...main, config, addresses: wanted.listen, chosePorts: false, probe: undefined }
  }
  const fronts: Front[] = []
  for (const front of wanted.fronts) {
    const listen = await settle(
      front.listen,
      fronts.map((one) => one.listen.port),
    )
    const { certificate: given, ...rest } = front
    const certificate = front.topology === 'nginx-tls' && (given ?? (await makeCertificate(main.dir)))
    fronts.push({ ...rest, listen, ...(certificate && { certificate }) })
  }
  return {
    ...main,
    config: renderNginx({ ...wanted, ...main, fronts, keepaliveMinTimeout, http2 }),
    addresses: fronts.map(({ listen, certificate }) =>
      certificate ? { ...listen, ca: readFileSync(certificate.certificate, 'utf8') } : listen,
    ),
    chosePorts: wanted.fronts.some(({ listen }) => listen.port === 0),
    // NGINX responds itself: no app is needed, and none counts a request.
    probe: '/ceiling',
  }
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
