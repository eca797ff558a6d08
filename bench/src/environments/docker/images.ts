import { UsageError } from '@startgrid/cli/arguments.ts'
import type { Progress } from '@startgrid/cli/progress.ts'
import { oneLine } from '@startgrid/cli/text.ts'
import { imageOn } from '@startgrid/grid/apps.ts'
import { FRONT_SERVICE, serviceName } from '@startgrid/grid/compose.ts'
import { fingerprint } from '@startgrid/machine/fingerprint.ts'
import { readMachine } from '@startgrid/machine/machine.ts'
import { readVersions } from '@startgrid/machine/provenance.ts'
import type { Environment } from '../environment.ts'
import { Memory } from '../remembered.ts'
import { ALL_PROFILES, docker } from './command.ts'
import { type Engine, EngineError, type EngineInfo, type Image, runsHere } from './engine.ts'
import type { ComposeFile } from './project.ts'
import { GENERATOR_SERVICE } from './run.ts'

/** What the images are made from. Apps besides: a change in one framework leaves the images of the others as they are. */
const SOURCES = [
  'docker',
  'docker-compose.yml',
  'nginx',
  'packages',
  'package.json',
  'pnpm-lock.yaml',
  'pnpm-workspace.yaml',
  'scripts',
  'turbo.json',
]

/** A first build loads and installs everything. */
const BUILD_LIMIT_MS = 1_800_000

/** The images that a run needs: by framework, `nginx` and `loadgen`. */
export type Images = ReadonlyMap<string, Image>

interface BuildOptions {
  engine: Engine
  file: ComposeFile
  /** Those that take part. */
  frameworks: readonly string[]
  progress: Progress
  signal: AbortSignal
}

/**
 * Has Compose build the images, unless the same files made the same images before.
 * @throws {UsageError} if that fails, with the last thing that the build said
 */
export async function buildImages(options: BuildOptions): Promise<Images> {
  const { engine, file, frameworks, progress, signal } = options
  const services = new Map<string, string>([
    // Roles of one framework share an image.
    ...frameworks.map((framework) => [framework, serviceName({ framework, role: 'hello' })] as const),
    [FRONT_SERVICE, FRONT_SERVICE],
    [GENERATOR_SERVICE, GENERATOR_SERVICE],
  ])
  const print = fingerprint([...SOURCES, ...frameworks.map((name) => `apps/${name}`)])
  const memory = new Memory<string>('images')
  const present = await inspect(engine, file, services)
  if (present !== undefined && memory.get(print) === identity(present)) return present
  progress.say('Building the images: minutes the first time, seconds after a change.')
  await build([...services.values()], signal)
  const built = await inspect(engine, file, services)
  if (built === undefined) throw new UsageError('Docker built the images, but does not have them: try again.')
  memory.set(print, identity(built))
  memory.save()
  return built
}

async function build(services: readonly string[], signal: AbortSignal): Promise<void> {
  const words = ['compose', '--progress', 'plain', ...ALL_PROFILES, 'build', ...services]
  try {
    await docker(words, { signal, limitMs: BUILD_LIMIT_MS })
  } catch (error) {
    const why = oneLine(error).replace(/^docker compose failed: /, '')
    throw new UsageError(`The images cannot be built (${why}): see what docker compose build says.`)
  }
}

/** @returns undefined if one is missing */
async function inspect(
  engine: Engine,
  { services }: ComposeFile,
  names: ReadonlyMap<string, string>,
): Promise<Images | undefined> {
  const found = [...names].map(
    async ([name, service]) => [name, await engine.image(services[service]?.image ?? service)] as const,
  )
  try {
    return new Map(await Promise.all(found))
  } catch (error) {
    if (error instanceof EngineError) return undefined
    throw error
  }
}

function identity(images: Images): string {
  return [...images.values()].map(({ Id }) => Id).join(' ')
}

/** A variable that an image sets, such as the official ones their versions. @returns undefined if it does not */
export function variableOf(image: Image | undefined, name: string): string | undefined {
  const line = image?.Config.Env?.find((one) => one.startsWith(`${name}=`))
  return line?.slice(name.length + 1)
}

/** What a result says of containers otherwise than of processes: the engine's machine, and the versions in the images. */
export async function describeContainers(info: EngineInfo, images: Images): Promise<Environment['facts']> {
  const [machine, versions] = [readMachine(), readVersions()]
  const bun = imageOn('bun', images)
  return {
    machine: {
      ...machine,
      cores: info.NCPU,
      memoryBytes: info.MemTotal,
      os: `Docker Engine ${info.ServerVersion} on ${info.OperatingSystem}`,
      kernel: `Linux ${info.KernelVersion} ${info.Architecture}`,
      governor: runsHere(info) ? machine.governor : null,
    },
    versions: {
      ...versions,
      // The official images of Node and NGINX say so; Bun's does not.
      node: variableOf(images.get(GENERATOR_SERVICE), 'NODE_VERSION') ?? 'unknown',
      bun: bun === undefined ? versions.bun : await ask(bun, 'bun', '--version'),
    },
  }
}

/** `qjs`, or `njs` for the old one: what the image's configuration chooses. */
export async function findNjsEngine(images: Images): Promise<string> {
  const image = imageOn('nginx', images) ?? ''
  const chosen = await ask(image, 'sed', '-n', 's/^ *js_engine \\(.*\\);/\\1/p', '/etc/nginx/hello.conf')
  return chosen === '' ? 'njs' : chosen
}

/** What a program in an image of the grid prints. */
async function ask(image: string, program: string, ...args: string[]): Promise<string> {
  const words = ['run', '--rm', '--pull', 'never', '--network', 'none', '--entrypoint', program]
  return (await docker([...words, `startgrid/${image}`, ...args])).trim()
}
