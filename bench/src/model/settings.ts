import Type from 'typebox'
import { count, list, number, object, oneOf, orNull, type Static } from './schema.ts'

/** How much is measured, and on which cores. */

/** A stretch of load: as long as its samples need, within these ends. */
export type Span = Static<typeof Span>
export const Span = object({
  minMs: number('At least, in milliseconds.'),
  maxMs: number('At most, in milliseconds.'),
})

/** Logical CPUs. */
export type Cores = Static<typeof Cores>
export const Cores = object({
  server: Type.Integer({ description: 'Number of the CPU of app and proxy.' }),
  servers: Type.Optional(
    list(
      Type.Integer(),
      'All CPUs of the servers, the first of them `server`; absent where it is the only one.',
    ),
  ),
  generator: Type.Integer({ description: 'Number of the CPU of the load generator.' }),
  generators: Type.Optional(
    list(
      Type.Integer(),
      'All CPUs of the load generator, the first of them `generator`; absent where it is the only one.',
    ),
  ),
})

/** How much is measured, where. */
export type Settings = Static<typeof Settings>
export const Settings = object(
  {
    profile: oneOf(
      ['quick', 'default', 'full', 'custom'],
      'Profile of effort; `custom` if something of it was given otherwise.',
    ),
    heats: count('Planned per race: each is one launch of every system.'),
    slices: count('Planned passes per heat: each measures every cell once.'),
    sliceMs: number('Planned length of a slice, in milliseconds.'),
    maxTimeMs: orNull(
      Type.Number(),
      'Time after which no heat is begun, in milliseconds; null without a limit.',
    ),
    cores: orNull(Cores, 'Which CPUs were used; null where processes cannot be kept apart.'),
    openLoop: orNull(Span, 'Of studies: how long an open loop lasts; else null.'),
  },
  'How it was measured.',
)
