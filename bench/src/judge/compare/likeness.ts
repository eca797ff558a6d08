import { listOf } from '@startgrid/cli/text.ts'
import type { Cell } from '../../model/cell.ts'
import type { StoredResult } from '../../model/result.ts'

/** Whether two results may be compared, and what differs between them that may explain a difference. */

/**
 * What makes two results unlike, each as a sentence. A comparison of unlike results would show the difference in how they were made.
 * Versions are not in it: they are what one compares.
 * @returns nothing if they may be compared
 */
export function findUnlikeness(a: StoredResult, b: StoredResult): string[] {
  const facts: [what: string, of: (result: StoredResult) => string | number | null][] = [
    ['kind of measurement', ({ kind }) => kind],
    ['study', (result) => (result.kind === 'study' ? result.study : null)],
    ['CPU', ({ machine }) => machine.cpu],
    ['number of cores', ({ machine }) => machine.cores],
    ['operating system', ({ machine }) => machine.os],
    ['kernel', ({ machine }) => kernelSeries(machine.kernel)],
    ['CPU frequency governor', ({ machine }) => machine.governor],
    ['length of a slice', ({ settings }) => `${settings.sliceMs} ms`],
    [
      'separation of server and generator',
      ({ settings }) => (settings.cores === null ? 'no cores' : 'own cores'),
    ],
  ]
  const unlike = facts.flatMap(([what, of]) => {
    const [inA, inB] = [of(a), of(b)]
    return inA === inB ? [] : [`The ${what} differs: ${inA ?? 'unknown'} in A, ${inB ?? 'unknown'} in B.`]
  })
  return [...unlike, ...findUnlikeCells(a, b)]
}

/** `Linux 6.12 x86_64` of `Linux 6.12.48-cloud x86_64`: patches of one series are alike. */
function kernelSeries(kernel: string): string {
  const [name = '', release = '', machine = ''] = kernel.split(' ')
  return `${name} ${release.split('.', 2).join('.')} ${machine}`.trim()
}

/** How a cell is loaded; njs also by which engine runs it. */
function findUnlikeCells(a: StoredResult, b: StoredResult): string[] {
  const facts: [what: string, of: (cell: Cell) => string | number | null][] = [
    ['workload', ({ workload }) => workload],
    ['number of connections', ({ connections }) => connections],
    ['warm-up', ({ warmupMs }) => `${warmupMs} ms`],
    ['engine', ({ engine }) => engine],
  ]
  return facts.flatMap(([what, of]) => {
    const differing = sharedCells(a, b).flatMap(([inA, inB]) =>
      of(inA) === of(inB)
        ? []
        : [{ id: inA.id, change: `${of(inA) ?? 'unknown'} in A, ${of(inB) ?? 'unknown'} in B` }],
    )
    return [...Map.groupBy(differing, ({ change }) => change)].map(
      ([change, cells]) => `The ${what} of ${someOf(cells.map(({ id }) => id))} differs: ${change}.`,
    )
  })
}

const NAMED = 3

function someOf(names: readonly string[]): string {
  if (names.length <= NAMED + 1) return listOf(names)
  return listOf([...names.slice(0, NAMED), `${names.length - NAMED} other cells`])
}

/** The cells that both have, as they are in each. */
export function sharedCells(a: StoredResult, b: StoredResult): [Cell, Cell][] {
  const inB = new Map(b.cells.map((cell) => [cell.id, cell]))
  return a.cells.flatMap((cell): [Cell, Cell][] => {
    const other = inB.get(cell.id)
    return other === undefined ? [] : [[cell, other]]
  })
}

/** Versions that differ: `fastify 5.12.8, then 5.13.0`. Of a server that already ran only the address is known. */
export function findChanges(a: StoredResult, b: StoredResult): string[] {
  const [inA, inB] = [versionsOf(a), versionsOf(b)]
  return Object.keys({ ...inA, ...inB }).flatMap((name) =>
    inA[name] === inB[name] ? [] : [`${name} ${inA[name] ?? 'none'}, then ${inB[name] ?? 'none'}`],
  )
}

function versionsOf({ target, versions, nginx, driver }: StoredResult): Record<string, string> {
  const generator = { startgrid: versions.startgrid, Node: versions.node }
  const offered = { [`driver ${driver.name}`]: driver.version }
  if (target !== null) return { server: target.origin, ...generator, ...offered }
  return {
    ...generator,
    Bun: versions.bun,
    ...versions.packages,
    lockfile: versions.lockfile,
    NGINX: nginx?.version ?? 'none',
    njs: nginx?.njs?.version ?? 'none',
    ...offered,
  }
}
