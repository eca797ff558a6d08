import type { App, Role, Topology } from '@startgrid/grid/apps.ts'
import type { Capability } from '@startgrid/grid/frameworks.ts'
import type { Mode } from '../model/result.ts'
import type { ProfileName } from './profiles.ts'

/** Where the servers of a run are: processes of this machine, or one server that already runs somewhere. */
export interface ServerLocation {
  /** The origin of a server that already runs. */
  target: string | undefined
  /** What that server does; undefined without one. */
  role: Role | undefined
  /** What that server lacks. */
  absent: Capability[]
}

export function modeOf({ target }: Pick<ServerLocation, 'target'>): Mode {
  return target === undefined ? 'native' : 'target'
}

/** What `pnpm bench` is asked to do. */
export interface Options extends ServerLocation {
  apps: App[]
  topologies: Topology[]
  profile: ProfileName
  /** Something of the profile was given otherwise. */
  custom: boolean
  heats: number
  sliceMs: number
  /** Replaces every role's own number; undefined leaves them. */
  connections: number | undefined
  maxTimeMs: number | null
  seed: number
  dryRun: boolean
  /** Also written here; `-` is standard output. */
  json: string | undefined
  /** Where result.json and the reports go. */
  output: string | undefined
  download: boolean
  /** Also p50 and p99 in open loop. */
  latency: boolean
  slices: number
  /** Rest before every heat but the first, in milliseconds; 0 where each heat starts its apps. */
  pauseMs: number
  /** `--max-time` was given. If the number of heats was not, there are as many as fit. */
  timeGiven: boolean
  heatsGiven: boolean
  /** Its figures become a file of docs. */
  publish: boolean
}
