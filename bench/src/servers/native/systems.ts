import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { oneLine } from '@startgrid/cli/text.ts'
import { runtimeOf } from '@startgrid/grid/apps.ts'
import { type Launch, launch, NEVER_SHED } from '@startgrid/grid/launcher.ts'
import { pin } from '@startgrid/machine/cores.ts'
import { peakMemory, processTree, serverPids } from '@startgrid/machine/processes.ts'
import type { Nginx } from '@startgrid/nginx/find.ts'
import type { Instance } from '@startgrid/nginx/instance.ts'
import type { Target } from '@startgrid/wire/target.ts'
import type { System } from '../../result/experiment.ts'
import type { Cell, Settings } from '../../result/result.ts'
import { beginAccountOf, type Server, type Servers } from '../servers.ts'
import { certificateOf, type Route, startFronts } from './front.ts'

/** A system to start as processes of this machine: an app, or an NGINX, or both. */
export interface Entrant {
  cell: Cell
  system: System
  /** Undefined: a system with an NGINX cannot be started. */
  nginx: Nginx | undefined
  /** The cores to stay on, as taskset writes them; undefined: all. */
  cpus: string | undefined
}

/** Systems with the same one share the processes of an app. */
const launchOf = ({ cell }: Entrant) => cell.app

/** A system without a launch key shares nothing. */
const isShared = ({ system }: Entrant) => system.launch !== undefined

/** Those that share have one NGINX in front of all, as a site has. */
const nginxKey = (one: Entrant) => (isShared(one) ? 'all' : one.cell.id)

/** Of the environment of an app: it logs no request, and refuses no page. */
const MEASURABLE = { ...NEVER_SHED, LOG_LEVEL: 'warn' } as const

/** What serves a cell. */
interface Parts {
  target: Target
  /** Of the app; empty for an NGINX that is alone. */
  copies: readonly Launch[]
  /** What the client talks to; undefined where that is the app. */
  nginx: Instance | undefined
}

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))

/**
 * Starts all apps, then the NGINXes in front of them, and waits until they serve. Of what fails nothing is left running.
 * @param cores where other programs would disturb them; null if they are not kept apart
 */
export async function startSystems(entrants: readonly Entrant[], cores: Settings['cores']): Promise<Servers> {
  const directory = mkdtempSync(join(tmpdir(), 'startgrid-'))
  const failures = new Map<string, string>()
  const apps = new Map<string, readonly Launch[]>()
  const fronts = new Map<string, { nginx: Instance; target: Target | undefined }>()

  const withApp = entrants.filter(({ system }) => system.app !== undefined)
  await startGroups(withApp, launchOf, failures, async ([first], name) => {
    apps.set(name, await startCopies(first, directory))
  })
  // Only now: on one core, seven apps took 6.4 s to listen instead of 2.6.
  for (const [name, [first]] of Map.groupBy(withApp, launchOf)) {
    const pids = (apps.get(name) ?? []).flatMap(({ ready }) => processTree(ready.pid))
    if (first?.cpus !== undefined) pin(pids, first.cpus)
  }
  const behind = entrants.filter(({ cell, system }) => system.nginx !== undefined && !failures.has(cell.id))
  await startGroups(behind, nginxKey, failures, async (own) => {
    const nginx = await startNginx(own, apps)
    for (const [index, { cell }] of own.entries())
      fronts.set(cell.id, { nginx, target: nginx.addresses[index] })
  })

  const parts = new Map<Entrant, Parts>()
  for (const one of entrants.filter(({ cell }) => !failures.has(cell.id))) {
    const copies = apps.get(launchOf(one)) ?? []
    const { nginx, target } = fronts.get(one.cell.id) ?? { nginx: undefined, target: copies[0]?.target }
    if (target !== undefined) parts.set(one, { target, copies, nginx })
    else failures.set(one.cell.id, 'it has neither an app nor an NGINX')
  }
  return {
    running: new Map([...parts].map(([{ cell }, one]) => [cell.id, serverOf(one, cores)])),
    failures,
    launches: async () => {
      const peaks = new Map<string, number | null>()
      for (const [one, own] of parts) {
        peaks.set(launchOf(one), peakMemory(appPids(own)) ?? null)
        if (isShared(one) && own.nginx !== undefined) peaks.set('nginx', peakMemory(own.nginx.pids()) ?? null)
      }
      return [...peaks].map(([app, peak]) => ({ app, peakMemory: peak }))
    },
    stop: async () => {
      const instances = new Set([...fronts.values()].map(({ nginx }) => nginx))
      await Promise.all([...instances].map((one) => one.stop()))
      await Promise.all([...apps.values()].flat().map((one) => one.stop()))
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** Starts what the entrants of a group share; if that fails, all of them have failed. */
async function startGroups(
  entrants: readonly Entrant[],
  keyOf: (entrant: Entrant) => string,
  failures: Map<string, string>,
  start: (group: readonly [Entrant, ...Entrant[]], key: string) => Promise<void>,
): Promise<void> {
  await Promise.all(
    [...Map.groupBy(entrants, keyOf)].map(async ([key, [first, ...others]]) => {
      if (first === undefined) return
      try {
        await start([first, ...others], key)
      } catch (error) {
        for (const { cell } of [first, ...others])
          failures.set(cell.id, `it did not start: ${oneLine(error)}`)
      }
    }),
  )
}

/** All that can be started are stopped again if one cannot. */
async function startCopies({ cell, system }: Entrant, directory: string): Promise<Launch[]> {
  const { app, nginx, tls } = system
  if (app === undefined) return []
  const { package: path, role, flags = [], runtime = runtimeOf(path), copies = 1 } = app
  const SOCKET = join(directory, `${cell.app.replaceAll(/\W/g, '-')}.sock`)
  const socket = nginx?.front.endsWith('-socket') ? { SOCKET } : {}
  const files = tls !== undefined && nginx === undefined ? await certificateOf(tls) : undefined
  const secure = files && { CERTIFICATE: files.certificate, KEY: files.key }
  const hook = flags.includes('--jitless') ? ['--import', strippedTypes(path, directory)] : []
  const options = { env: { ...MEASURABLE, ...app.env, ...socket, ...secure }, execArgv: [...flags, ...hook] }
  const startable = { name: `${basename(path)}/${role}`, runtime, role, directory: join(ROOT, path) }
  const starts = await Promise.allSettled(Array.from({ length: copies }, () => launch(startable, options)))
  const started = starts.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
  const failed = starts.find((one) => one.status === 'rejected')
  if (failed !== undefined) {
    await Promise.all(started.map((one) => one.stop()))
    throw failed.reason
  }
  return started
}

async function startNginx(
  own: readonly [Entrant, ...Entrant[]],
  apps: ReadonlyMap<string, readonly Launch[]>,
): Promise<Instance> {
  const [{ system, nginx, cpus }] = own
  if (nginx === undefined) throw new Error('there is no NGINX')
  const certificate = system.tls && (await certificateOf(system.tls))
  const routes = own.map((one): Route => {
    const { app, nginx: front } = one.system
    return {
      kind: front?.front ?? 'nginx',
      upstreams: (apps.get(launchOf(one)) ?? []).map(({ target }) => target),
      lines: front?.lines,
      certificate,
      assets: app?.role === 'ssr',
    }
  })
  return startFronts(nginx, routes, cpus)
}

function serverOf(parts: Parts, cores: Settings['cores']): Server {
  const { target, copies, nginx } = parts
  const [first] = copies
  const { engine, nginx: version } = first?.ready ?? {}
  return {
    target,
    engine: engine && `${engine} in NGINX ${version}`,
    whyEnded: async () => endingOf(copies) ?? (nginx?.pids().length === 0 ? 'NGINX ended' : null),
    beginAccount: (generator) => {
      const proxy = first === undefined ? [] : (nginx?.pids() ?? [])
      return beginAccountOf({ app: appPids(parts), proxy, generator, cores })
    },
  }
}

/** The processes of the app; of an NGINX that is alone, its own. */
function appPids({ copies, nginx }: Parts): number[] {
  return copies.length === 0 ? (nginx?.pids() ?? []) : copies.flatMap(serverPids)
}

function endingOf(copies: readonly Launch[]): string | null {
  for (const { child } of copies) {
    if (child.exitCode !== null) return `the app ended with exit code ${child.exitCode}`
    if (child.signalCode !== null) return `the app was ended by ${child.signalCode}`
  }
  return null
}

/** Serves the sources in `SOURCES`, which stands before it. */
const HOOK = `
import { registerHooks } from 'node:module'
registerHooks({
  load(url, context, next) {
    const source = SOURCES[url]
    return source === undefined ? next(url, context) : { format: 'module', source, shortCircuit: true }
  },
})
`

/**
 * Node strips types with WebAssembly, which `--jitless` switches off (https://nodejs.org/api/typescript.html).
 * @returns a module for `node --import` that hands out the sources of a package, and of what the apps share, without their types
 * @param path of the package, in the repository
 * @param directory where the module may be
 */
function strippedTypes(path: string, directory: string): string {
  const files = [path, 'packages/shared'].flatMap((one) => globSync(join(ROOT, one, 'src/**/*.ts')))
  const sources = files.map((file) => [pathToFileURL(file).href, strip(readFileSync(file, 'utf8'))])
  const hook = join(directory, `${basename(path)}-without-types.mjs`)
  writeFileSync(hook, `const SOURCES = ${JSON.stringify(Object.fromEntries(sources))}\n${HOOK}`)
  return hook
}

/** The function is marked as experimental, which the reader of a measurement does not need. */
function strip(source: string): string {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    return stripTypeScriptTypes(source)
  } finally {
    process.emitWarning = emitWarning
  }
}
