import Table from 'cli-table3'
import type { CellResult, Result } from './results.ts'

/** A result for people: tables on a terminal of 80 columns, and Markdown for a pull request. */

const HEADINGS = ['app', 'via', 'req/s', '95 %', '× node', 'CPU µs/req', 'peak MB'] as const

/** One table per role, fastest first; voided cells last, with their reason below. */
export function formatTables(result: Result): string {
  return roles(result)
    .map(({ title, cells }) => `${title}\n${formatTable(cells)}${formatVoided(cells, '  ')}`)
    .join('\n')
}

/** The same as Markdown, with what a reader needs to judge and to repeat it. */
export function formatMarkdown(result: Result): string {
  const { machine, versions, nginx, settings, driver } = result
  const sections = roles(result).map(({ title, cells }) =>
    [`## ${title}`, '', ...markdownTable(cells), formatVoided(cells, '\n- ')].join('\n'),
  )
  return `${[
    `# Benchmark of ${result.startedAt.slice(0, 16).replace('T', ' ')} UTC`,
    '',
    ...(result.finishedAt === null ? ['**Interrupted: not all rounds were measured.**', ''] : []),
    ...result.cautions.map((caution) => `> ${caution}\n`),
    ...sections,
    '',
    '## How to read it',
    '',
    `- **req/s**: answers per second, geometric mean over ${settings.rounds} rounds; **95 %** is the interval of that mean (Student's t`,
    '  over rounds, each a fresh start of the app). Two cells whose intervals overlap are not ranked by this run.',
    '- **× node**: ratio to bare `node:http` in the same topology, by round, with its 95 % interval.',
    '- **CPU µs/req**: CPU time per request, app + proxy. **peak MB**: resident memory, app + proxy; the proxy is one NGINX for all.',
    '- njs runs inside NGINX; behind `nginx` there are two of them.',
    '',
    '## Where it comes from',
    '',
    `- ${machine.cpu}, ${machine.cores} cores, ${gigabytes(machine.memoryBytes)} GB, ${machine.os}, ${machine.kernel}`,
    `- Node ${versions.node}, Bun ${versions.bun}, ${Object.entries(versions.packages)
      .map(([name, version]) => `${name} ${version}`)
      .join(', ')}`,
    `- ${nginx === null ? 'no NGINX' : `NGINX ${nginx.version} (${nginx.kind})${nginx.njs ? `, njs ${nginx.njs.version} on ${nginx.njs.engine}` : ''}`}`,
    `- ${describeCores(result)}; ${settings.connections} connections, ${settings.durationMs} ms per cell and round after ${settings.warmupMs} ms of warm-up`,
    `- driver ${driver.name}; its ceiling against NGINX's \`return 200\`: ${driver.ceiling === null ? 'not measured' : `${count(driver.ceiling)} req/s`}`,
    `- startgrid ${versions.startgrid}, lockfile ${versions.lockfile}, seed ${result.seed}`,
    '',
    '```sh',
    result.command,
    '```',
  ].join('\n')}\n`
}

function roles(result: Result): { title: string; cells: CellResult[] }[] {
  const byRole = Map.groupBy(result.cells, (cell) => cell.role)
  return [...byRole].map(([role, cells]) => ({
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
  for (const cell of cells) table.push(rowOf(cell, ' '))
  return `${table.toString().replaceAll(/ +$/gm, '')}\n`
}

/** No lines: columns alone are read faster. */
const PLAIN = Object.fromEntries(
  ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right']
    .concat(['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid', 'middle'])
    .map((part) => [part, '']),
)

function markdownTable(cells: readonly CellResult[]): string[] {
  const rows = cells.map((cell) => `| ${rowOf(cell, ' ').join(' | ')} |`)
  return [`| ${HEADINGS.join(' | ')} |`, '| --- | --- | ---: | ---: | ---: | ---: | ---: |', ...rows, '']
}

function rowOf(cell: CellResult, space: string): string[] {
  const name = cell.engine === null ? cell.app : `${cell.app} (${cell.engine.split(' ', 1)[0]})`
  if (cell.voided) return [name, cell.topology, 'void', '', '', '', '']
  const { rate, rateInterval, ratioToNode, cpuPerRequest, peakMemory } = cell
  return [
    name,
    cell.topology,
    rate === null ? '' : count(rate),
    rateInterval === null ? '—' : `${count(rateInterval[0])}–${count(rateInterval[1])}`,
    ratioToNode === null ? '—' : cell.framework === 'node' ? '1' : formatRatio(ratioToNode, space),
    sum(cpuPerRequest?.app, cpuPerRequest?.proxy, (seconds) => significant(seconds * 1e6)),
    sum(peakMemory.app, peakMemory.proxy, (bytes) => String(Math.round(bytes / 1e6))),
  ]
}

function formatRatio({ value, low, high }: NonNullable<CellResult['ratioToNode']>, space: string): string {
  const half = low === null || high === null ? '' : `${space}±${((high - low) / 2).toFixed(2)}`
  return `${value.toFixed(2)}${half}`
}

/** `app+proxy`, or the app alone where there is no proxy. */
function sum(
  app: number | null | undefined,
  proxy: number | null | undefined,
  format: (value: number) => string,
): string {
  if (app === null || app === undefined) return '—'
  return proxy ? `${format(app)}+${format(proxy)}` : format(app)
}

/** Three digits that mean something. */
function significant(value: number): string {
  return value >= 100 ? String(Math.round(value)) : value.toPrecision(value >= 10 ? 3 : 2)
}

function formatVoided(cells: readonly CellResult[], before: string): string {
  const voided = cells.filter((cell) => cell.voided)
  return voided
    .map((cell) => `${before}${cell.app} ${cell.topology} is void: ${cell.voidedBecause}.\n`)
    .join('')
}

function describeCores({ settings: { cores } }: Result): string {
  if (cores === null)
    return 'nothing was pinned to a core: on this system it cannot be, and rates include that noise'
  return `app and proxy on core ${cores.server}, generator on core ${cores.generator}`
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

function gigabytes(bytes: number): string {
  return (bytes / 2 ** 30).toFixed(0)
}
