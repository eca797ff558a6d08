import type { Profile, ProfileName } from './profiles.ts'

/** How much effort a server takes that already runs. Times are in milliseconds. */
interface TargetEffort extends Pick<Profile, 'heats' | 'slices' | 'sliceMs' | 'maxTimeMs' | 'shows'> {
  /** In which the server is left alone before every heat but the first. */
  pauseMs: number
}

/**
 * Nothing is started, so a heat is cheap, and there can be more of them than of launches. They are apart because the intervals are over
 * heats: what comes and goes within seconds (a collection of garbage, a neighbour, a busy link) then falls into some heats and not into
 * others, where back to back it would be in all of them or in none. Slices are longer than of a race: over a network a response takes
 * milliseconds.
 */
export const TARGET_EFFORT: Readonly<Record<ProfileName, TargetEffort>> = {
  quick: {
    heats: 3,
    slices: 2,
    sliceMs: 250,
    pauseMs: 500,
    maxTimeMs: 60_000,
    shows:
      'A quick run shows that everything works: three heats within seconds say little about how the rate varies.',
  },
  default: {
    heats: 10,
    slices: 3,
    sliceMs: 500,
    pauseMs: 2000,
    maxTimeMs: 180_000,
    shows:
      'A default run tells how the rate of this one launch varies within a minute. It cannot tell how other launches, hours or ' +
      'machines would do.',
  },
  thorough: {
    heats: 30,
    slices: 4,
    sliceMs: 1000,
    pauseMs: 5000,
    maxTimeMs: 1_200_000,
    shows:
      'A thorough run tells how the rate of this one launch varies within five minutes. It cannot tell how other launches, hours or ' +
      'machines would do.',
  },
}

/** Discarded at the beginning of every heat: what the slowest app of the grid needs after a start, for nobody tells when this one started. */
export const TARGET_WARMUP_MS = 1500
