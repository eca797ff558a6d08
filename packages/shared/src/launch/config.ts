import { availableParallelism } from 'node:os'
import { type Config, type Env, readChoice, readConfig, refuse } from '../process/config.ts'

/** The settings of an app of this repository: how it listens, and as how many processes. */
export interface LaunchConfig extends Config {
  /** Path of a unix socket to listen on instead of `host` and `port`. */
  socket: string | undefined
  /** One process, or several that share the port: workers of `node:cluster`, or processes that each listen with SO_REUSEPORT. */
  cluster: ClusterMode
  /** The number of processes that serve. */
  workers: number
}

type ClusterMode = 'single' | 'cluster' | 'reuse-port'

const CLUSTER_MODES: readonly ClusterMode[] = ['single', 'cluster', 'reuse-port']

/** More than anybody needs, and few enough not to take a machine down. */
const MOST_WORKERS = 1024

/** Longest path that fits `sockaddr_un.sun_path` with its NUL, on Linux (108) and macOS (104). */
const SOCKET_PATH_BYTES = process.platform === 'linux' ? 107 : 103

/** @throws {StartError} naming the variable, its value and what is allowed */
export function readLaunchConfig(env: Env): LaunchConfig {
  const config = readConfig(env)
  const { trustProxy: trusts } = config
  const socket = readSocket(env)
  const settings = { ...config, socket, cluster: readCluster(env), workers: readWorkers(env) }
  if (trusts === false || socket === undefined) return settings
  // File permissions decide who can open a unix socket, so its peers are trusted. They have no address.
  return {
    ...settings,
    trustProxy: (address, hop) => (address === undefined ? hop === 0 : trusts(address, hop)),
  }
}

function readSocket(env: Env): string | undefined {
  const value = env.SOCKET
  if (value === undefined) return undefined
  if (value === '' || Buffer.byteLength(value) > SOCKET_PATH_BYTES) {
    refuse('SOCKET', value, `the path of a unix socket, 1 to ${SOCKET_PATH_BYTES} bytes long`)
  }
  return value
}

function readCluster(env: Env): ClusterMode {
  const mode = readChoice(env, 'CLUSTER', 'single', CLUSTER_MODES)
  if (mode !== 'single' && process.versions.bun !== undefined)
    refuse('CLUSTER', mode, 'single on Bun: only Node apps can be clustered')
  if (mode !== 'reuse-port') return mode
  // libuv refuses it on macOS, because that kernel would give all connections to one process.
  if (process.platform !== 'linux') refuse('CLUSTER', mode, 'single or cluster: reuse-port needs Linux')
  if (env.SOCKET !== undefined)
    refuse('CLUSTER', mode, 'single or cluster with SOCKET: only a port can be reused')
  return mode
}

/** `auto` is the number of cores for this process. Its affinity counts and, on Linux, the CPU limit of its cgroup. */
function readWorkers(env: Env): number {
  if ((env.CLUSTER ?? 'single') === 'single') {
    const { WORKERS = '1' } = env
    return WORKERS === '1' ? 1 : refuse('WORKERS', WORKERS, '1 unless CLUSTER is cluster or reuse-port')
  }
  const value = env.WORKERS ?? 'auto'
  if (value === 'auto') return availableParallelism()
  if (!/^[1-9]\d{0,3}$/.test(value) || Number(value) > MOST_WORKERS)
    refuse('WORKERS', value, `auto or a whole number from 1 to ${MOST_WORKERS}`)
  return Number(value)
}
