import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { requireNginx } from '@startgrid/nginx/find.ts'
import { type Instance, startNginx } from '@startgrid/nginx/instance.ts'
import type { LaunchConfig } from '#shared/launch/config.ts'
import { listen } from '#shared/launch/lifecycle.ts'
import { StartError } from '#shared/process/config.ts'
import { DIST, type Role, renderConfig, type Settings } from './nginx-config.ts'
import { type NjsConfig, withEngine } from './njs-config.ts'

/** A role that runs inside its own NGINX. */
export interface RunningApp {
  /** `http://host:port` or `unix:path`. */
  address: string
  instance: Instance
  /** Fails readiness, and adds `connection: close` to every response. */
  drain(): Promise<void>
}

/**
 * Starts a role with the NGINX found on this machine.
 * @param trustProxy the value of TRUST_PROXY; `config` has it as a function, which NGINX cannot call
 * @throws {StartError} one sentence
 */
export async function startApp(
  role: Role,
  config: LaunchConfig,
  trustProxy: string,
  { workers, engine: wanted }: NjsConfig,
): Promise<RunningApp> {
  const nginx = withEngine(await requireNginx().catch(toStartError), wanted)
  const engine = nginx.njs?.engine
  if (engine === undefined)
    throw new StartError(`${nginx.describe()} cannot run JavaScript: install its njs module.`)
  const module = join(DIST, engine, `${role}.js`)
  if (!existsSync(module)) throw new StartError(`${module} does not exist: run the build first (pnpm build).`)
  const assets = join(DIST, 'assets')
  if (role === 'ssr' && !existsSync(assets))
    throw new StartError(`${assets} does not exist: run the build first (pnpm build).`)
  const address = await claim(config)
  const settings: Settings = { role, module, nginx, address, config, trustProxy }
  const options = {
    config: renderConfig(settings, false),
    listen: address.port === undefined ? [] : [{ host: config.host, port: address.port }],
    workers,
    output: 'inherit',
  } as const
  const instance = await startNginx(nginx, options).catch(toStartError)
  return { address: address.text, instance, drain: () => instance.reload(renderConfig(settings, true)) }
}

/** The address to listen on, with a real port. The port is free, and the socket file of a killed process was removed. */
async function claim(config: LaunchConfig): Promise<{ text: string; port: number | undefined }> {
  const server = createServer()
  const text = await listen(server, config)
  const bound = server.address()
  await new Promise((resolve) => server.close(resolve))
  return { text, port: typeof bound === 'object' ? bound?.port : undefined }
}

function toStartError(error: unknown): never {
  throw new StartError(error instanceof Error ? error.message : String(error), { cause: error })
}
