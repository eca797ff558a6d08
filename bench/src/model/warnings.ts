import { formatDistance, formatPercent, formatRate, formatShort } from '@startgrid/cli/numbers.ts'
import { plural } from '@startgrid/cli/text.ts'

/**
 * Everything that a reader of a result may need to be warned of: kind, figures, and a sentence or two that say what is the matter
 * and what to do. Nothing else prints warnings.
 */
const WARNINGS = {
  // The machine, before anything is measured.
  'not-pinned': () =>
    'Processes cannot be pinned to cores here (that takes Linux and taskset): the system moves them about. Compare what is far apart only.',
  'one-core': () =>
    'Only one core can be used: servers and generator share it, so rates are far below what a server can do. Use a machine with two.',
  'smt-shared': ({ server, generator }: { server: number; generator: number }) =>
    `CPUs ${server} and ${generator} are two threads of one physical core: servers and generator slow each other down. Use a machine with two cores.`,
  'unlike-cores': ({ server, generator, slower }: { server: number; generator: number; slower: number }) =>
    `The generator has CPU ${generator}, which is ${formatDistance(slower)} slower than CPU ${server} of the servers, for want of another fast one: it may not keep up with fast servers.`,
  busy: ({ share }: { share: number }) =>
    `Other programs use ${formatPercent(share)} of this machine: close them, or read the rates as lower bounds.`,
  'load-average': ({ load, cores }: { load: number; cores: number }) =>
    `The load average was ${load.toFixed(2)} on ${plural(cores, 'core')} at the beginning: another program ran until just now. If it was not a run of this benchmark, wait for a minute.`,
  'node-cores': ({ node, cpus }: { node: string; cpus: number }) =>
    `The servers may use ${plural(cpus, 'CPU')} of ${node}: app, proxy and the threads of a runtime run beside each other there, and rates are not those of one core.`,
  governor: ({ governor }: { governor: string }) =>
    `The CPU frequency governor is ${governor}: clocks follow the load. For close differences choose performance (sudo cpupower frequency-set -g performance).`,
  boost: () =>
    'The CPU may boost its clock: rates depend on its temperature. For close differences switch boost off in the firmware.',
  'virtual-machine': ({ name }: { name: string }) =>
    `This is a virtual machine (${name}). What other guests of its host do is not visible here. Measure again at another time before you trust a close difference.`,

  // Tools.
  'no-nginx': ({ cells, help }: { cells: number; help: string }) =>
    `${plural(cells, 'cell')} behind NGINX or in it ${isOrAre(cells)} skipped. ${help}`,
  'no-njs': ({ cells, nginx }: { cells: number; nginx: string }) =>
    `${plural(cells, 'cell')} of njs ${isOrAre(cells)} skipped, because ${nginx} cannot run njs: install its njs module.`,
  'ceiling-unknown': ({ reason }: { reason: string }) =>
    `The generator's ceiling was not measured: ${reason}. Whether it limits the fastest servers is not known.`,

  // While it ran.
  steal: ({ share }: { share: number }) =>
    `The host took ${formatPercent(share)} of this virtual machine's CPU while it measured: rates are too low.`,
  'heats-dropped': ({ from, maxTimeMs }: { from: number; maxTimeMs: number }) =>
    `Time was up after ${formatShort(maxTimeMs / 60_000)} minutes: heats from number ${from} on were dropped, so intervals are wider. Allow more with --max-time.`,
  'not-saved': ({ reason }: { reason: string }) =>
    `The result could not be saved: ${reason}. Until that is mended an interruption loses what was measured.`,
  resumed: ({ pauseSeconds }: { pauseSeconds: number }) =>
    `The run was interrupted and went on after ${formatPause(pauseSeconds)}: what the machine did before and after need not be alike.`,
  extended: ({ times }: { times: number }) =>
    `Heats were added ${times === 1 ? 'once' : `${times} times`} after this run was complete. If its ties decided that, a false difference is a little more likely than 5 %.`,
  'other-versions': ({ name, before, now }: { name: string; before: string; now: string }) =>
    `${name} was ${before} when the run began, and ${now} when it was resumed: its cells are a mixture. Measure them again.`,

  // What follows from the mode and the figures.
  'external-server': () =>
    'The server already ran, and nobody accounts for it: its CPU and memory are not known, nor whether it was what limited the rate. The network is in every figure.',
  'one-launch': () =>
    'Everything was measured on one launch of the server: by how much its launches differ is in no interval. Restart it and measure again before you trust a close difference.',
  'same-machine': () =>
    'The server runs on this machine, but on no core of its own: it, the generator and everything else take from each other. Rates are lower bounds.',
  'no-accounting': () =>
    'This system does not say what CPU its processes use, nor what others take: costs are missing, and disturbed slices were not noticed.',
  'no-foreign-accounting': () =>
    'This system does not say what others use of a core: a slice that they disturbed was only noticed where a server or the generator had to wait.',
  'disturbance-unknown': () =>
    'Costs are known, but this system does not say what others used meanwhile: slices that they disturbed were not noticed.',
  voided: ({ loads, first }: { loads: number; first: string }) =>
    `${plural(loads, 'load')} did not count and ${loads === 1 ? 'was' : 'were'} offered again (${first}).`,
  excluded: ({ slices, of }: { slices: number; of: number }) =>
    `Other programs visibly used the cores during ${slices} of ${plural(of, 'slice')}. These slices do not count.`,
  crowded: ({ cells }: { cells: number }) =>
    `In at least one launch of ${plural(cells, 'cell')} others took the cores during most slices, so all slices count. Close other programs before you trust a close difference.`,
  'disturbed-loads': ({ loads, of, crowded }: { loads: number; of: number; crowded: number }) =>
    `Other programs visibly used the cores during ${loads} of ${plural(of, 'open loop')}. ` +
    (crowded === 0
      ? 'These do not count.'
      : `These do not count, except in ${plural(crowded, 'cell')} where most loads are so. Close other programs before you trust latencies.`),
  suspect: ({
    twin,
    metric,
    difference,
    p,
  }: {
    twin: string
    metric: string
    difference: number
    p: number
  }) =>
    `The run is suspect: ${twin} differs by ${formatPercent(Math.abs(difference))} in ${metric} from the app that it equals (p = ${p.toPrecision(1)}). Measure again on a quieter machine.`,
  'near-ceiling': ({
    cells,
    fastest,
    rate,
    ceiling,
  }: {
    cells: number
    fastest: string
    rate: number
    ceiling: number
  }) =>
    `${plural(cells, 'rate')} came within 10 % of what the generator can ask for (${fastest}: ${formatRate(rate)} of ${formatRate(ceiling)} per second), and may be its own: compare CPU per request.`,
  'generator-bound': ({ cells, first }: { cells: number; first: string }) =>
    `The generator could not offer the load to ${plural(cells, 'cell')} (${first}): nothing is said about higher rates. Give it a core of its own.`,
  'no-intervals': ({ cells }: { cells: number }) =>
    `${plural(cells, 'comparison')} had fewer than two launches, which give no interval: add heats with --heats.`,
  'half-width': ({ target, reached }: { target: number; reached: number | null }) =>
    `Not all intervals became as narrow as ±${formatPercent(target)}${reached === null ? '' : ` (the widest is ±${formatPercent(reached)})`}: allow more with --max-time, or read them as they are.`,
} as const satisfies Record<string, (figures: never) => string>

export type WarningKind = keyof typeof WARNINGS

type Figures<Kind extends WarningKind> =
  Parameters<(typeof WARNINGS)[Kind]> extends [infer Figures] ? Figures : unknown

/** Plain data: a kind with its figures. */
export type Warning = { [Kind in WarningKind]: { kind: Kind } & Figures<Kind> }[WarningKind]

/** For the schema, in the order of the enumeration. */
export const WARNING_KINDS = Object.keys(WARNINGS) as readonly WarningKind[]

/** A sentence or two for a person. */
export function describeWarning(warning: Warning): string {
  const describe = WARNINGS[warning.kind] as (figures: Warning) => string
  return describe(warning)
}

function isOrAre(count: number): string {
  return count === 1 ? 'is' : 'are'
}

function formatPause(seconds: number): string {
  if (seconds < 120) return plural(seconds, 'second')
  const minutes = Math.round(seconds / 60)
  return minutes < 120 ? plural(minutes, 'minute') : plural(Math.round(minutes / 60), 'hour')
}
