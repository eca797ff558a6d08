import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Nginx } from '@startgrid/nginx/find.ts'
import type { Front } from '@startgrid/nginx/front.ts'
import { type Instance, startNginx } from '@startgrid/nginx/instance.ts'
import { ASSETS_DIR } from '@startgrid/shared/page/server.js'
import type { App, Topology } from './apps.ts'
import { type Launch, launch, NEVER_SHED, type Target } from './launcher.ts'

export interface LineupOptions {
  apps: readonly App[]
  topologies: readonly Topology[]
  /** Whether an app is wanted in one of these topologies; default: each in all. What is not wanted is not started. */
  isWanted?: (app: App, topology: Topology) => boolean
  /** Without it, only `direct` can be used. */
  nginx: Nginx | undefined
  env?: Readonly<Record<string, string>>
}

/** Apps that were started together, with one NGINX in front of them. */
export interface Lineup {
  /** Why an app did not start, by its name, or why a topology is not there, by its own. */
  failures: ReadonlyMap<string, string>
  /** Where an app is reached, if it runs. */
  target(app: App, topology: Topology): Target | undefined
  /** The start of an app that serves this topology, if it runs. */
  launched(app: App, topology: Topology): Launch | undefined
  stop(): Promise<void>
}

/**
 * Starts apps and, if a topology needs it, NGINX. An app that does not start is listed in `failures`, and the others continue.
 * @throws {Error} if NGINX does not start
 */
export async function startLineup(options: LineupOptions): Promise<Lineup> {
  const directory = mkdtempSync(join(tmpdir(), 'startgrid-'))
  const launches = new Map<string, Launch>()
  const failures = new Map<string, string>()
  const addresses = new Map<string, Target>()
  let instance: Instance | undefined

  const topologiesOf = (app: App) =>
    options.topologies.filter((topology) => options.isWanted?.(app, topology) ?? true)

  const start = async (app: App, socketPath: string | undefined): Promise<void> => {
    const env = { ...NEVER_SHED, ...options.env, ...(socketPath && { SOCKET: socketPath }) }
    try {
      launches.set(key(app, socketPath !== undefined), await launch(app, { env }))
    } catch (error) {
      failures.set(app.name, error instanceof Error ? error.message : String(error))
    }
  }
  const stop = async (): Promise<void> => {
    await instance?.stop()
    await Promise.all([...launches.values()].map((one) => one.stop()))
    rmSync(directory, { recursive: true, force: true })
  }

  try {
    await Promise.all(
      options.apps.flatMap((app) =>
        socketsOf(app, topologiesOf(app), directory).map((path) => start(app, path)),
      ),
    )
    if (options.nginx?.http2 === undefined)
      failures.set('nginx-tls', 'this NGINX was built without TLS or HTTP/2')
    const fronts = options.apps.flatMap((app) =>
      topologiesOf(app).flatMap((topology) => createFront(app, topology)),
    )
    if (fronts.length > 0 && options.nginx) {
      instance = await startNginx(options.nginx, { fronts })
      for (const [index, address] of instance.addresses.entries())
        addresses.set(fronts[index]?.name ?? '', address)
    }
  } catch (error) {
    await stop()
    throw error
  }

  function createFront(app: App, topology: Topology): Front[] {
    const upstream = launches.get(key(app, topology === 'nginx-socket'))?.target
    if (topology === 'direct' || upstream === undefined || failures.has(topology)) return []
    const assets = app.role === 'ssr' ? { serveAssets: ASSETS_PATH } : {}
    return [
      {
        name: frontName(app, topology),
        topology,
        listen: { host: '127.0.0.1', port: 0 },
        upstream,
        ...assets,
      },
    ]
  }

  return {
    failures,
    launched: (app, topology) => launches.get(key(app, topology === 'nginx-socket')),
    target: (app, topology) => {
      if (topology === 'direct') return launches.get(key(app, false))?.target
      return addresses.get(frontName(app, topology))
    },
    stop,
  }
}

/** An app that serves only `nginx-socket` gets no port, and one without it gets no socket. */
function socketsOf(app: App, topologies: readonly Topology[], directory: string): (string | undefined)[] {
  const sockets: (string | undefined)[] = []
  if (topologies.some((topology) => topology !== 'nginx-socket')) sockets.push(undefined)
  if (topologies.includes('nginx-socket')) sockets.push(join(directory, `${fileName(app)}.sock`))
  return sockets
}

function key(app: App, onSocket: boolean): string {
  return onSocket ? `${app.name} on a socket` : app.name
}

function frontName(app: App, topology: Topology): string {
  return `${fileName(app)}-${topology}`
}

/** An app may run twice under two names: `node/hello` and `node/hello#2`. */
function fileName({ name }: App): string {
  return name.replaceAll(/[/#]/g, '-')
}

const ASSETS_PATH = fileURLToPath(ASSETS_DIR).replace(/\/$/, '')
