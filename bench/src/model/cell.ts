import { ROLES, TOPOLOGIES } from '@startgrid/grid/apps.ts'
import Type from 'typebox'
import { count, flag, list, number, object, orNull, type Static, text } from './schema.ts'

/** The cells of a run: what each number belongs to. */

export const CELL = 'Identifier of the cell, as in `cells`.'

/** What the contract's suite found. */
export type ConformanceRecord = Static<typeof ConformanceRecord>
export const ConformanceRecord = object({
  cell: text(CELL),
  checked: count('Checks that were made.'),
  differences: list(Type.String(), 'What is wrong, a line each; nothing if it conforms.'),
  remembered: flag('Proven by an earlier run of the same code on this machine.'),
})

/** What one number belongs to: a system in a race. */
export type Cell = Static<typeof Cell>
export const Cell = object({
  id: text('`fastify/hello direct`, of a twin `fastify/hello#2 direct`; of a study its race and system.'),
  race: text(
    'Cells of one race are started together and compared with each other: in the grid, those of one role.',
  ),
  system: text('Its name in the experiment.'),
  app: text('What is launched: `fastify/hello`, `fastify/hello#2` for its twin, the system of a study.'),
  title: text('As tables name it: the framework, `node#2` for a twin, or what a study calls it.'),
  role: orNull(Type.Enum(ROLES), 'The contract that it keeps; null where none covers it.'),
  topology: Type.Enum(TOPOLOGIES, { description: 'How requests reach it.' }),
  twinOf: orNull(Type.String(), 'The `app` that this one equals (A/A); null for all others.'),
  engine: orNull(
    Type.String(),
    'Of njs in the grid, `njs in NGINX 1.22.1`: unlike engines are never compared as one. Null for all others.',
  ),
  workload: orNull(
    Type.String(),
    'Method and path; null where a program of its own measures instead of load.',
  ),
  connections: count('Connections kept open, each with one request in flight.'),
  openLoop: flag('Of studies: its latency is measured in open loop as well.'),
  warmupMs: number('Load on this cell after each launch that is discarded, in milliseconds.'),
  warmupRequests: count(
    'The warm-up goes on until so many requests got a response, but at most twice its time.',
  ),
  leastSliceMs: number('A slice is at least as long, in milliseconds; 0 where nothing asks for longer ones.'),
  cores: object(
    { wanted: count('How many it can keep busy.'), given: count('How many it had.') },
    'Cores of the servers.',
  ),
  serverBound: flag('The number only counts while server and proxy use all of their cores.'),
  skipped: orNull(Type.String(), 'Why it was not tried: the machine lacks a tool; null for all others.'),
})
