import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** How launches vary on a real machine: standard deviations of logarithms, and parts of 1. `calibrate.ts` estimates it. */
export interface Model {
  /** Where the figures come from, a sentence each. */
  provenance: string[]
  /** Speed of the machine from heat to heat, the same for all cells. */
  heatSd: number
  /** Of the speed of one heat with the one before, 0 to 1. */
  heatCorrelation: number
  /** What a heat does to all cells behind NGINX beyond what it does to direct ones. */
  topologySd: number
  /** Change of the machine's speed from the beginning to the end of a heat: a random walk. */
  driftSd: number
  /** Cost of one launch of a typical cell against its others, without the noise of slices. */
  launchSd: number
  /** Of the logarithms of the cells' own `launchSd`. */
  launchSpread: number
  /** The part of a launch's variance that its direct and its proxied cell have in common. */
  sharedPart: number
  /** Cost of a slice against its launch. */
  sliceSd: number
  /** Launches that are off as a whole. */
  outliers: {
    part: number
    /** From and to, uniform: how much of the rate is lost, and how much dearer requests get. */
    rateLoss: [number, number]
    cpuGain: [number, number]
    /** How many of them the run-queue gate sees: their slices are measured again. */
    detected: number
    /** How many of those are over when they are measured again. */
    over: number
  }
  /** Others who use our cores for a while. */
  neighbours: {
    /** How many begin per second. */
    perSecond: number
    /** How long they stay, on average (exponential). */
    seconds: number
    /** The part of the core that they take, on average (exponential, at most a half). */
    share: number
    /** How much dearer requests get by a lost core, at most. */
    cpuGain: number
  }
}

export const MODEL_PATH = fileURLToPath(new URL('./model.json', import.meta.url))

/** The model that is checked in. */
export function readModel(): Model {
  return JSON.parse(readFileSync(MODEL_PATH, 'utf8')) as Model
}

export function writeModel(model: Model): void {
  writeFileSync(MODEL_PATH, `${JSON.stringify(model, null, 2)}\n`)
}
