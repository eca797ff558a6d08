import type { App, Topology } from '@startgrid/grid/apps.ts'
import type { ProfileName } from './profiles.ts'

/** What `pnpm bench` is asked to do. */
export interface Options {
  apps: App[]
  topologies: Topology[]
  profile: ProfileName
  /** Something of the profile was given otherwise. */
  custom: boolean
  heats: number
  sliceMs: number
  /** Replaces every role's own number; undefined leaves them. */
  connections: number | undefined
  /** Of `--max-time`: no heat begins that would end later. If the number of heats was not given, there are as many as fit. */
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
  heatsGiven: boolean
}
