import { type App, FRAMEWORKS, findFramework, ROLES, type Role } from '@startgrid/grid/apps.ts'
import type { Framework } from '@startgrid/grid/frameworks.ts'
import { type Experiment, isProbe, type Race } from '../result/experiment.ts'
import type { Settings } from '../result/result.ts'

/** How much effort a run takes, and what every cell gets of it: with all frameworks about five minutes, and `--quick` one. */

export type ProfileName = 'quick' | 'default'

/** Its open loops are those with `--latency`. */
interface Profile extends Omit<StudyEffort, 'maxTimeMs'> {
  frameworks: readonly string[]
  roles: readonly Role[]
  /** What a reader may expect of it. */
  shows: string
}

export const PROFILES: Readonly<Record<ProfileName, Profile>> = {
  quick: {
    frameworks: FRAMEWORKS.slice(0, 3),
    // status is a hello with less in it, and would take a third of the time.
    roles: ['hello', 'ssr'],
    heats: 2,
    slices: 5,
    sliceMs: 50,
    openLoop: { minMs: 300, maxMs: 1500 },
    shows:
      'A quick run shows that everything works and differences of about a factor of 1.3. It cannot rank what is closer, ' +
      'and two launches say little about how launches vary.',
  },
  default: {
    frameworks: FRAMEWORKS,
    roles: ROLES,
    heats: 3,
    slices: 16,
    sliceMs: 50,
    openLoop: { minMs: 500, maxMs: 3000 },
    shows:
      'A default run shows differences of about 10 % on a quiet machine. It cannot show smaller ones, ' +
      'and latency under a fixed rate only with `--latency`.',
  },
}

/** Requests that an app served in its warm-up where the catalogue's times were measured; 0 if it has not been measured. */
export function warmupRequests({ framework, role }: Warmed, warmupMs: number): number {
  return Math.round(((entryOf(framework)?.rates?.[role] ?? 0) * warmupMs) / 1000)
}

/** For a framework that has not been measured. */
const LONGEST_WARMUP_MS = 1500

/**
 * Milliseconds of load after a launch that are discarded. On Node, hello and status are within 5 % of their final CPU per request in the fourth or fifth
 * slice, and a page in the sixth. njs compiles nothing.
 */
export function warmupOf({ framework, role }: Warmed): number {
  return entryOf(framework)?.warmUpMs?.[role] ?? LONGEST_WARMUP_MS
}

/** A subject of a study need not be in the catalogue. */
function entryOf(framework: string): Framework | undefined {
  return FRAMEWORKS.includes(framework.replace(/#\d+$/, '')) ? findFramework(framework) : undefined
}

/** What decides how long an app takes to become warm. */
type Warmed = Pick<App, 'framework' | 'role'>

/** Behind NGINX the app is warm already: what is new is NGINX, which has nothing to compile. */
export const PROXIED_WARMUP_MS = 250

/**
 * Connections by role. A slice lasts at least 4 × connections / rate: with 64, an interpreted page at 54 responses per second would take
 * 5 s, and 8 keep one core as busy.
 */
export const CONNECTIONS: Readonly<Record<Role, number>> = { hello: 64, ssr: 8, status: 64 }

export type StudyProfile = 'quick' | 'full'

export type StudyEffort = Pick<Settings, 'heats' | 'slices' | 'sliceMs' | 'openLoop' | 'maxTimeMs'>

/** Launches and passes. A full run is for figures that are published; a quick one shows differences of about a factor of 1.3. */
export const STUDY_PROFILES: Readonly<Record<StudyProfile, StudyEffort>> = {
  quick: { heats: 3, slices: 6, sliceMs: 50, openLoop: { minMs: 600, maxMs: 1500 }, maxTimeMs: 300_000 },
  full: { heats: 8, slices: 20, sliceMs: 50, openLoop: { minMs: 1000, maxMs: 3000 }, maxTimeMs: null },
}

/** What is measured of a study: the source's own commands that no claim is about only with `--as-published`, which runs nothing else. */
export function chooseRaces<Kind extends Experiment>(study: Kind, asPublished: boolean): Kind {
  const decisive = new Set(study.claims.flatMap(({ race, against = race }) => [race, against]))
  const chosen = ([name, race]: [string, Race]) => {
    const isTool = isProbe(race) && race.tool !== undefined
    return asPublished ? isTool : !isTool || decisive.has(name)
  }
  const races = Object.fromEntries(Object.entries(study.races).filter(chosen))
  const has = ({ race, against = race }: { race: string; against?: string }) =>
    races[race] !== undefined && races[against] !== undefined
  const { claims, steps = [] } = study
  return { ...study, races, claims: claims.filter(has), steps: steps.filter(has) }
}
