import { type Command, run } from './command.ts'

/** The official image that the project is written against. It has njs; the tag moves within one stable branch. */
export const IMAGE = 'nginx:1.30'

/** A host path that the container sees under the same name, so that one configuration fits every kind of NGINX. */
export interface Mount {
  readonly path: string
  readonly writable?: boolean
}

export interface ContainerOptions {
  readonly image: string
  readonly name: string
  readonly mounts: readonly Mount[]
  /** CPU list as `taskset` and Docker write it, e.g. `0` or `0,2-3`. */
  readonly cpus?: string
  /** `held`: attached, with standard input; `left`: in the background; `once`: attached, without input. */
  readonly mode: 'held' | 'left' | 'once'
}

/**
 * `docker run` of one program. It uses the host's network, because a published port goes through docker-proxy and loses half the rate.
 * It runs as the caller's user, because it needs no other rights.
 */
export function containerCommand(options: ContainerOptions, program: readonly string[]): Command {
  const [entrypoint = 'nginx', ...rest] = program
  const uid = process.getuid?.() ?? 0
  const gid = process.getgid?.() ?? 0
  const mode = { held: ['--interactive'], left: ['--detach'], once: [] }[options.mode]
  const args = [
    'run',
    '--rm',
    ...mode,
    ...['--name', options.name, '--network', 'host', '--pull', 'never', '--user', `${uid}:${gid}`],
    // The engine would keep a copy of the log for as long as the container lives.
    ...['--log-driver', 'none'],
    ...(options.cpus === undefined ? [] : ['--cpuset-cpus', options.cpus]),
    ...options.mounts.flatMap(mountArguments),
    ...['--entrypoint', entrypoint, options.image],
    ...rest,
  ]
  return { file: 'docker', args }
}

function mountArguments({ path, writable }: Mount): string[] {
  // Unlike --volume, --mount refuses a path that does not exist instead of creating it as root.
  return ['--mount', `type=bind,source=${path},target=${path}${writable === true ? '' : ',readonly'}`]
}

/** Sends a signal to the first process of a container. */
export async function signalContainer(name: string, signal: NodeJS.Signals): Promise<void> {
  await run({ file: 'docker', args: ['kill', '--signal', signal, name] })
}

/** The process id, on this machine, of a container's first process; undefined if it is not running. */
export async function containerPid(name: string): Promise<number | undefined> {
  const { code, stdout } = await run({
    file: 'docker',
    args: ['inspect', '--format', '{{.State.Pid}}', name],
  })
  const pid = Number(stdout)
  return code === 0 && pid > 0 ? pid : undefined
}

/**
 * Why Docker cannot be used, or undefined if the image is there.
 * @param pull whether a missing image may be pulled (at most two minutes)
 */
export async function dockerObstacle(image: string, pull: boolean): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'Docker shares the host network only on Linux'
  const engine = await run({ file: 'docker', args: ['version', '--format', '{{.Server.Version}}'] }, 5_000)
  if (engine.code !== 0) return 'no Docker engine responds'
  const inspect = await run({ file: 'docker', args: ['image', 'inspect', '--format', '{{.Id}}', image] })
  if (inspect.code === 0) return undefined
  if (!pull) return `Docker has no image ${image}, and downloading is switched off`
  const pulled = await run({ file: 'docker', args: ['pull', '--quiet', image] }, 120_000)
  if (pulled.code === 0) return undefined
  return `Docker cannot pull ${image} (${lastLine(pulled.stderr) || 'no response within two minutes'})`
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? ''
}
