import Table from 'cli-table3'
import type { CellResult, Result } from './results.ts'
import { describeVoided } from './summary.ts'
import { plural, wrap } from './text.ts'

/** A result for people: tables on a terminal and Markdown for a pull request, both within 80 columns. */

const HEADINGS = ['framework', 'via', 'req/s', '95 %', '× node', 'CPU µs', 'peak MB'] as const

/** What must be known first, one table per role, fastest first, void cells last with their reason below, and the conditions. */
export function formatTables(result: Result): string {
  const { cautions, nginx, seed } = result
  const tables = rolesOf(result).map(
    ({ title, cells }) => `${title}\n\n${formatTable(cells)}${describeAll(cells, '  ').join('')}`,
  )
  const legend = '95 %: interval of req/s over rounds. CPU µs per request and peak MB: app+proxy.'
  return [
    ...(cautions.length > 0 ? [cautions.map((caution) => `${wrap(caution)}\n`).join('')] : []),
    ...tables,
    `${legend}\n${wrap(`${describeDriver(result)}; ${describeCores(result)}; seed ${seed}.`)}`,
    ...(nginx === null ? [] : [`${describeNginx(result)}.`]),
    '',
  ].join('\n')
}

/** The same as Markdown, with what a reader needs to judge and to repeat it. */
export function formatMarkdown(result: Result): string {
  const { machine, versions, settings } = result
  const packages = Object.entries(versions.packages).map(([name, version]) => `${name} ${version}`)
  const sections = rolesOf(result).flatMap(({ title, cells }) => [
    `## ${title}\n`,
    ...markdownTable(cells),
    '',
    ...describeAll(cells, '  ').map((line) => `- ${line}`),
  ])
  const item = (text: string) => wrap(`- ${text}`, '  ')
  return [
    `# Benchmark of ${result.startedAt.slice(0, 16).replace('T', ' ')} UTC\n`,
    ...(result.finishedAt === null ? ['**Interrupted: not all rounds were measured.**\n'] : []),
    ...result.cautions.map((caution) => `${wrap(`> ${caution}`, '> ')}\n`),
    ...sections,
    '## How to read it\n',
    item(
      `**req/s**: answers per second, geometric mean over ${plural(settings.rounds, 'round')}; **95 %**: the interval of that mean ` +
        "(Student's t over rounds, each a fresh start of the app). Cells whose intervals overlap are not ranked by this run.",
    ),
    item('**× node**: ratio to bare `node:http` in the same topology, by round, with its 95 % interval.'),
    item('**CPU µs**: CPU time per request, app+proxy, in microseconds (k: thousands).'),
    item(
      '**peak MB**: resident memory, app+proxy, in units of 10^6 bytes; the proxy is one NGINX in front of all apps of the role.',
    ),
    item(
      '**njs** runs inside NGINX (the engine is in brackets: `qjs` is QuickJS, `njs` its own old one), so behind `nginx` there are two of them. Without the Node process that starts it.',
    ),
    '\n## Where it comes from\n',
    item(
      `${machine.cpu}, ${plural(machine.cores, 'core')}, ${(machine.memoryBytes / 2 ** 30).toFixed(0)} GiB, ${machine.os}, ` +
        `${machine.kernel}${machine.governor === null ? '' : `, governor ${machine.governor}`}`,
    ),
    item(`Node ${versions.node}, Bun ${versions.bun}, ${packages.join(', ')}`),
    item(describeNginx(result)),
    item(
      `${describeCores(result)}; ${plural(settings.connections, 'connection')}, ${settings.durationMs} ms per cell and round after ` +
        `${settings.warmupMs} ms of warm-up`,
    ),
    item(describeDriver(result)),
    item(`startgrid ${versions.startgrid}, lockfile ${versions.lockfile}, seed ${result.seed}`),
    `\n\`\`\`sh\n${result.command}\n\`\`\`\n`,
  ].join('\n')
}

/** Skipped cells are left out: what they lack is said at the top. */
function rolesOf(result: Result): { title: string; cells: CellResult[] }[] {
  const tried = result.cells.filter((cell) => !cell.skipped)
  return [...Map.groupBy(tried, (cell) => cell.role)].map(([role, cells]) => ({
    title: `${role}: ${cells[0]?.workload}`,
    cells: cells.toSorted((a, b) => (b.rate ?? 0) - (a.rate ?? 0)),
  }))
}

function formatTable(cells: readonly CellResult[]): string {
  const table = new Table({
    head: [...HEADINGS],
    chars: PLAIN,
    colAligns: ['left', 'left', 'right', 'right', 'right', 'right', 'right'],
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2, compact: true },
  })
  for (const cell of cells) table.push(rowOf(cell))
  return `${table.toString().replaceAll(/ +$/gm, '')}\n`
}

/** No lines: columns alone are read faster. */
const PLAIN = Object.fromEntries(
  ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right']
    .concat(['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid', 'middle'])
    .map((part) => [part, '']),
)

/** Aligned, so that it can be read as it stands; without spaces beside the bars it fits 80 columns. */
function markdownTable(cells: readonly CellResult[]): string[] {
  const rows = [[...HEADINGS], ...cells.map(rowOf)]
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]) =>
    `|${row.map((text, column) => (column < 2 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0))).join('|')}|`
  const [head = [], ...body] = rows
  const rule = widths.map((width, column) =>
    column < 2 ? '-'.repeat(width) : `${'-'.repeat(Math.max(1, width - 1))}:`,
  )
  return [line(head), `|${rule.join('|')}|`, ...body.map(line)]
}

function rowOf(cell: CellResult): string[] {
  const name = cell.engine === null ? cell.framework : `${cell.framework} (${cell.engine.split(' ', 1)[0]})`
  if (cell.voided) return [name, cell.topology, 'void', '', '', '', '']
  const { rate, rateInterval, ratioToNode, cpuPerRequest, peakMemory } = cell
  return [
    name,
    cell.topology,
    rate === null ? '' : formatRate(rate),
    rateInterval === null ? '—' : formatInterval(rateInterval),
    ratioToNode === null ? '—' : cell.framework === 'node' ? '1' : formatRatio(ratioToNode),
    formatParts(cpuPerRequest?.app, cpuPerRequest?.proxy, (seconds) => formatShort(seconds * 1e6)),
    formatParts(peakMemory.app, peakMemory.proxy, (bytes) => String(Math.round(bytes / 1e6))),
  ]
}

function formatRate(rate: number): string {
  return rate < 100 ? rate.toFixed(1) : Math.round(rate).toLocaleString('en-US')
}

/** `9.8–12.3k`. Two rounds that disagree give intervals over orders of magnitude, whose ends say nothing. */
function formatInterval([low, high]: readonly [number, number]): string {
  if (high > 10 * low) return 'too wide'
  if (high < 10_000) return `${formatRate(low)}–${formatRate(high)}`
  return `${formatShort(low / 1000)}–${formatShort(high / 1000)}k`
}

function formatRatio({ value, low, high }: NonNullable<CellResult['ratioToNode']>): string {
  const digits = value < 0.1 ? 3 : 2
  if (low === null || high === null) return value.toFixed(digits)
  if (high > 10 * low) return `${value.toFixed(digits)} ±wide`
  return `${value.toFixed(digits)} ±${((high - low) / 2).toFixed(digits)}`
}

/** `app+proxy`, or the app alone where there is no proxy. */
function formatParts(
  app: number | null | undefined,
  proxy: number | null | undefined,
  format: (value: number) => string,
): string {
  if (app === null || app === undefined) return '—'
  return proxy ? `${format(app)}+${format(proxy)}` : format(app)
}

/** About three digits that mean something. */
function formatShort(value: number): string {
  if (value >= 10_000) return `${formatShort(value / 1000)}k`
  if (value >= 100) return String(Math.round(value))
  return value.toFixed(value >= 10 ? 1 : 2)
}

function describeAll(cells: readonly CellResult[], indent: string): string[] {
  return describeVoided(cells).map((sentence) => `${wrap(sentence, indent)}\n`)
}

function describeDriver({ driver: { name, ceiling } }: Result): string {
  if (ceiling === null) return `driver ${name}, its ceiling was not measured`
  return `driver ${name}, ceiling ${formatRate(ceiling)} req/s (NGINX's return 200)`
}

function describeCores({ settings: { cores } }: Result): string {
  if (cores === null) return 'nothing was pinned to a core, and rates include that noise'
  return `app and proxy on core ${cores.server}, generator on core ${cores.generator}`
}

function describeNginx({ nginx }: Result): string {
  if (nginx === null) return 'no NGINX'
  const njs = nginx.njs === null ? 'no njs' : `njs ${nginx.njs.version} on engine ${nginx.njs.engine}`
  return `NGINX ${nginx.version} (${nginx.kind}), ${njs}`
}
