import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import {
  formatEnds,
  formatMegabytes,
  formatMicros,
  formatPercent,
  formatRatioInterval,
  formatShort,
  orUnknown,
  UNKNOWN,
} from '@startgrid/cli/numbers.ts'
import { type ItemColumn, left, markdownTable, right, tableOf } from '@startgrid/cli/table.ts'
import { findFramework } from '@startgrid/grid/apps.ts'
import { describeMachine } from '@startgrid/machine/machine.ts'
import type { Interval } from '@startgrid/stats/estimate.ts'
import { NGINX, pageOf, systemOf } from '../../studies/overhead/study.ts'
import { CACHED } from '../../studies/startup/study.ts'
import { writeBetween } from '../publish.ts'
import type { Analysis, CellFigures } from '../result/figures.ts'
import type { Result } from '../result/result.ts'
import { ResultError } from '../result/result-file.ts'

/** The tables of docs/choosing-a-framework.md, each between two marks. */

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const PAGE = `${ROOT}docs/choosing-a-framework.md`

/** @throws {ResultError} if the page has no place for it, or a system was skipped */
function write(
  { analysis, cells, versions, machine, startedAt }: Result,
  page: string,
  [name, command]: readonly [name: string, command: string],
  blocksOf: (analysis: Analysis) => string[],
): void {
  const skipped = cells.find((cell) => cell.skipped !== null)
  if (analysis === null || skipped !== undefined)
    throw new ResultError(
      `${page} is as it was: ${skipped?.title ?? 'a system'} was not measured (${skipped?.skipped ?? 'no heat ended'}).`,
    )
  const marks = { begin: `<!-- ${name}: ${command} -->`, end: `<!-- end of ${name} -->` }
  const measured = `Measured by \`${command}\` on ${startedAt.slice(0, 10)} at commit ${versions.startgrid} on ${describeMachine(machine)}.`
  writeBetween(page, marks, `${blocksOf(analysis).join('\n\n')} ${measured}`)
}

/** Of the study `overhead`: microseconds of CPU per request, and what other ways cost as a part of that. */
export function writeOverhead(result: Result, page = PAGE): void {
  const { heats, slices, sliceMs } = result.settings
  write(result, page, ['overhead', 'pnpm bench study overhead'], (analysis) => [
    ...overheadTables(analysis),
    `Microseconds of CPU per request, 64 connections (pages: 8), ${heats} launches of ${slices} slices of ${sliceMs} ms.`,
  ])
}

function overheadTables(analysis: Analysis): string[] {
  const figuresOf = (race: string, way: string): CellFigures | undefined =>
    analysis.cells.find((one) => one.race === race && one.system === systemOf(race, way) && one.void === null)
  /** Of app and proxy together, in CPU time or, where the system does not tell, the time per response. */
  const cost = (race: string, way: string) => {
    const { cpu, rate } = figuresOf(race, way)?.figures ?? {}
    return orUnknown(cpu?.value ?? (rate && 1 / rate.value), formatMicros)
  }
  const ratioOf = (race: string, over: string, under: string): Interval | null => {
    const to = systemOf(race, over)
    const from = systemOf(race, under)
    return (
      analysis.steps.find((one) => one.race === race && one.to === to && one.from === from)?.ratio ?? null
    )
  }
  const ratio = (race: string, over: string, under: string) => {
    const found = ratioOf(race, over, under)
    return found === null ? UNKNOWN : formatRatioInterval(found)
  }
  const costs = (heading: string, way: string): ItemColumn<string> =>
    right(heading, 0, (race) => cost(race, way))
  const ratios = (heading: string, over: string, under: string): ItemColumn<string> =>
    right(heading, 0, (race) => ratio(race, over, under))
  const name = left('', 0, (race: string) => race)
  const logged = [costs('app with log', 'logged'), ratios('bare / app with log', 'bare', 'logged')]
  const proxyCost = (way: string) => orUnknown(figuresOf(NGINX, way)?.cpu.proxy, formatMicros)
  const races = [...new Set(analysis.cells.map(({ race }) => race))]
  const frameworks = races.filter((race) => races.includes(pageOf(race)))
  return [
    ...(frameworks.length === 0
      ? []
      : [
          tableOf(frameworks, [
            name,
            costs('bare', 'bare'),
            costs('app', 'app'),
            ratios('bare / app', 'bare', 'app'),
            ...logged,
            costs('usual packages', 'usual'),
            ratios('usual / app with log', 'usual', 'logged'),
          ]),
          tableOf(frameworks.map(pageOf), [name, costs('bare', 'bare'), ...logged]),
        ]),
    ...(races.includes(NGINX)
      ? [
          tableOf(
            [
              { name: 'connections kept open', bare: 'bare', ours: 'ours' },
              { name: 'a connection per request', bare: 'bare-naive', ours: 'ours-naive' },
            ],
            [
              left('', 0, (row) => row.name),
              right('bare proxy_pass', 0, ({ bare }) => cost(NGINX, bare)),
              right('of it NGINX', 0, ({ bare }) => proxyCost(bare)),
              right('our NGINX', 0, ({ ours }) => cost(NGINX, ours)),
              right('of it NGINX', 0, ({ ours }) => proxyCost(ours)),
              right('bare / ours', 0, ({ bare, ours }) => ratio(NGINX, bare, ours)),
              right('rate against direct', 0, ({ ours }) =>
                orUnknown(ratioOf(NGINX, 'direct', ours)?.value, formatPercent),
              ),
            ],
          ),
        ]
      : []),
  ].map((table) => markdownTable(table, 0))
}

/**
 * Of the study `startup`: how long each app takes to start, and its memory.
 * @param imageBytes what the image of a framework adds to its base; undefined if this machine does not have both
 */
export function writeStartup(result: Result, { page = PAGE, imageBytes = imageSize } = {}): void {
  const { heats } = result.settings
  write(result, page, ['startup', 'pnpm bench study startup --heats 10'], ({ cells }) => {
    const figuresOf = (system: string) =>
      cells.find((one) => one.system === system && one.void === null)?.figures ?? {}
    const apps = cells.map(({ system }) => system).filter((system) => !system.endsWith(` ${CACHED}`))
    const sizes = new Map(apps.map((app) => [frameworkOf(app), imageBytes(frameworkOf(app))]))
    const table = tableOf(apps, [
      left('', 0, (app) => app),
      right('start ms', 0, (app) => orUnknown(figuresOf(app).startup?.value, formatMs)),
      right('95 %', 0, (app) => formatEnds(figuresOf(app).startup ?? null, formatMs)),
      right('with cache', 0, (app) => orUnknown(figuresOf(`${app} ${CACHED}`).startup?.value, formatMs)),
      right('MB ready', 0, (app) => orUnknown(figuresOf(app)['ready-memory']?.value, formatMegabytes)),
      right('MB peak', 0, (app) => orUnknown(figuresOf(app)['peak-memory']?.value, formatMegabytes)),
      right('image MB over base', 0, (app) => orUnknown(sizes.get(frameworkOf(app)), formatMegabytes)),
    ])
    return [
      markdownTable(table, 0),
      `${heats} starts of each app, alone, from the start of its process to the last byte of its first right response; memory at that moment, and the highest until then. ` +
        'Pinned to one core it is not the start-up of a deployment, which has more. Earlier starts had read the files, so they came from the page cache. ' +
        '"With cache": `NODE_COMPILE_CACHE`, filled by an earlier start. The image of a framework has all its apps; its base is that of the runtime, and sizes are uncompressed.',
    ]
  })
}

function frameworkOf(app: string): string {
  return app.split('/')[0] ?? ''
}

function formatMs(seconds: number): string {
  return formatShort(seconds * 1000)
}

/** Of the image that Compose runs. The base is the runtime's, and changes with every release of it. */
function imageSize(framework: string): number | undefined {
  const { runtime } = findFramework(framework)
  const dockerfile = readFileSync(`${ROOT}docker/Dockerfile`, 'utf8')
  const base = new RegExp(`^FROM (\\S+) AS ${runtime}$`, 'm').exec(dockerfile)?.[1] ?? ''
  const { status, stdout } = spawnSync(
    'docker',
    ['image', 'inspect', '--format', '{{.Size}}', `startgrid/${framework}:latest`, base],
    { encoding: 'utf8' },
  )
  const [whole = 0, under = 0] = stdout?.trim().split('\n').map(Number) ?? []
  return status === 0 ? whole - under : undefined
}
