import { formatDistance, formatPercent, formatShort } from '@startgrid/cli/numbers.ts'
import { plural } from '@startgrid/cli/text.ts'
import Type from 'typebox'
import { count, number, object, type Static, text } from './schema.ts'

/** A kind of warning: its figures, and what it says of them. */
function warning<Figures extends Type.TProperties>(
  figures: Figures,
  describe: (figures: Static<Type.TObject<Figures>>) => string,
) {
  return { figures, describe }
}

/**
 * Everything that a reader of a result may need to be warned of: kind, figures, and a sentence or two that say what is the matter
 * and what to do. Nothing else prints warnings.
 */
const OBSERVED = {
  // The machine, before anything is measured.
  'not-pinned': warning(
    {},
    () =>
      'Processes cannot be pinned to cores here (that takes Linux and taskset): the system moves them about. Compare what is far apart only.',
  ),
  'one-core': warning(
    {},
    () =>
      'Only one core can be used: servers and generator share it, so rates are far below what a server can do. Use a machine with two.',
  ),
  'smt-shared': warning(
    {
      server: number('Number of the CPU of the servers.'),
      generator: number('Number of the CPU of the generator.'),
    },
    ({ server, generator }) =>
      `CPUs ${server} and ${generator} are two threads of one physical core: servers and generator slow each other down. Use a machine with two cores.`,
  ),
  'unlike-cores': warning(
    {
      server: number('Number of the CPU of the servers.'),
      generator: number('Number of the CPU of the generator.'),
      slower: number('Ratio of speeds, above 1.'),
    },
    ({ server, generator, slower }) =>
      `The generator has CPU ${generator}, which is ${formatDistance(slower)} slower than CPU ${server} of the servers, for want of another fast one: it may not keep up with fast servers.`,
  ),
  busy: warning(
    { share: number('Part of the CPU, 0 to 1.') },
    ({ share }) =>
      `Other programs use ${formatPercent(share)} of this machine: close them, or read the rates as lower bounds.`,
  ),
  'load-average': warning(
    { load: number('Load average over a minute.'), cores: count('CPUs that the run may use.') },
    ({ load, cores }) =>
      `The load average was ${load.toFixed(2)} on ${plural(cores, 'core')} at the beginning: another program ran until just now. If it was not a run of this benchmark, wait for a minute.`,
  ),
  governor: warning(
    { governor: text('Its name.') },
    ({ governor }) =>
      `The CPU frequency governor is ${governor}: clocks follow the load. For close differences choose performance (sudo cpupower frequency-set -g performance).`,
  ),
  boost: warning(
    {},
    () =>
      'The CPU may boost its clock: rates depend on its temperature. For close differences switch boost off in the firmware.',
  ),
  'virtual-machine': warning(
    { name: text('What it is called.') },
    ({ name }) =>
      `This is a virtual machine (${name}). What other guests of its host do is not visible here. Measure again at another time before you trust a close difference.`,
  ),

  // Tools.
  'no-nginx': warning(
    { cells: count('How many cells.'), help: text('What to do, a sentence.') },
    ({ cells, help }) => `${plural(cells, 'cell')} behind NGINX or in it ${isOrAre(cells)} skipped. ${help}`,
  ),
  'no-njs': warning(
    { cells: count('How many cells.'), nginx: text('Which NGINX.') },
    ({ cells, nginx }) =>
      `${plural(cells, 'cell')} of njs ${isOrAre(cells)} skipped, because ${nginx} cannot run njs: install its njs module.`,
  ),

  // While it ran.
  steal: warning(
    { share: number('Part of the CPU, 0 to 1.') },
    ({ share }) =>
      `The host took ${formatPercent(share)} of this virtual machine's CPU while it measured: rates are too low.`,
  ),
  'heats-dropped': warning(
    {
      from: count('Number of the first heat that was dropped.'),
      maxTimeMs: number('The time allowed, in milliseconds.'),
      enoughMs: Type.Optional(number('What all heats would have taken, in milliseconds: whole ten seconds.')),
    },
    ({ from, maxTimeMs, enoughMs }) =>
      `Time was up after ${formatShort(maxTimeMs / 60_000)} minutes: heats from number ${from} on were dropped, so intervals are wider. ` +
      (enoughMs === undefined
        ? 'Allow more with --max-time.'
        : `--max-time ${enoughMs / 1000}s would be enough.`),
  ),
  'not-saved': warning(
    { reason: text('Why: a clause.') },
    ({ reason }) =>
      `The result could not be saved: ${reason}. Until that is mended an interruption loses what was measured.`,
  ),
}

/** What follows from the mode and the figures, so that it is found again with them. */
const DERIVED = {
  'shared-core': warning(
    {
      system: text('What it is called.'),
      processes: count('Those that work.'),
      cores: count('Those that it has.'),
    },
    ({ system, processes, cores }) =>
      `${processes} processes of ${system} share ${plural(cores, 'core')}: they wait for each other, as they would not where it runs. Give it more with --cores, on a machine that has them.`,
  ),
  'external-server': warning(
    { systems: text('What they are called.') },
    ({ systems }) =>
      `Nobody accounts for ${systems}: CPU and memory there are not known, nor whether the server was what limited the rate. The network is in every figure.`,
  ),
  'one-launch': warning(
    { systems: text('What they are called.') },
    ({ systems }) =>
      `Of ${systems}, which ran before this race, everything was measured on one launch: by how much launches differ is in no interval. Restart it and measure again before you trust a close difference.`,
  ),
  'no-accounting': warning(
    {},
    () =>
      'This system does not say what CPU its processes use, nor what others take: costs are missing, and disturbed slices were not noticed.',
  ),
  'no-foreign-accounting': warning(
    {},
    () =>
      'This system does not say what others use of a core: a slice that they disturbed was only noticed where a server or the generator had to wait.',
  ),
  'disturbance-unknown': warning(
    {},
    () =>
      'Costs are known, but this system does not say what others used meanwhile: slices that they disturbed were not noticed.',
  ),
  excluded: warning(
    { slices: count('How many slices.'), of: count('Of how many.') },
    ({ slices, of }) =>
      `Other programs visibly used the cores during ${slices} of ${plural(of, 'slice')}. These slices do not count.`,
  ),
  crowded: warning(
    { cells: count('How many cells.') },
    ({ cells }) =>
      `In at least one launch of ${plural(cells, 'cell')} others took the cores during most slices, so all slices count. Close other programs before you trust a close difference.`,
  ),
  'disturbed-loads': warning(
    {
      loads: count('How many loads.'),
      of: count('Of how many.'),
      crowded: count('Cells of which all loads count.'),
    },
    ({ loads, of, crowded }) =>
      `Other programs visibly used the cores during ${loads} of ${plural(of, 'open loop')}. ` +
      (crowded === 0
        ? 'These do not count.'
        : `These do not count, except in ${plural(crowded, 'cell')} where most loads are so. Close other programs before you trust latencies.`),
  ),
  suspect: warning(
    {
      twin: text('Cell of the twin.'),
      metric: text('In which metric, in words.'),
      difference: number('Part by which it differs.'),
      p: number('Two-sided p value.'),
    },
    ({ twin, metric, difference, p }) =>
      `The run is suspect: ${twin} differs by ${formatPercent(Math.abs(difference))} in ${metric} from the app that it equals (p = ${p.toPrecision(1)}). Measure again on a quieter machine.`,
  ),
  'no-intervals': warning(
    { cells: count('How many cells.') },
    ({ cells }) =>
      `${plural(cells, 'comparison')} had fewer than two launches, which give no interval: add heats with --heats.`,
  ),
}

const WARNINGS = { ...OBSERVED, ...DERIVED }

export type WarningKind = keyof typeof WARNINGS

/** Plain data: a kind with its figures. */
export type Warning = {
  [Kind in WarningKind]: { kind: Kind } & Static<Type.TObject<(typeof WARNINGS)[Kind]['figures']>>
}[WarningKind]

/** In the order of the enumeration. */
export const WARNING_KINDS = Object.keys(WARNINGS) as readonly WarningKind[]

export const Warning = Type.Unsafe<Warning>(
  Type.Union(
    Object.entries(WARNINGS).map(([kind, { figures }]) => object({ kind: Type.Literal(kind), ...figures })),
    { description: 'Something a reader must know: a kind and its figures.' },
  ),
)

/** Whether it follows from the mode and the figures; all others were seen while it ran. */
export function isDerived(kind: WarningKind): boolean {
  return kind in DERIVED
}

/** A sentence or two for a person. */
export function describeWarning(warning: Warning): string {
  const { describe } = WARNINGS[warning.kind] as { describe(figures: Warning): string }
  return describe(warning)
}

function isOrAre(count: number): string {
  return count === 1 ? 'is' : 'are'
}
