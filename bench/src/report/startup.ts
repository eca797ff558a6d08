import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { formatEnds, formatMegabytes, formatShort, orUnknown, UNKNOWN } from '@startgrid/cli/numbers.ts'
import { markdownTable } from '@startgrid/cli/table.ts'
import { findFramework } from '@startgrid/grid/apps.ts'
import { describeMachine } from '@startgrid/machine/machine.ts'
import type { Interval } from '@startgrid/stats/estimate.ts'
import { CACHED } from '../../studies/startup/study.ts'
import { writeBetween } from '../publish.ts'
import type { Metric } from '../result/experiment.ts'
import type { Result } from '../result/result.ts'
import { ResultError } from '../result/result-file.ts'

/** The table of the study `startup` in docs/choosing-a-framework.md. */

const MARKS = {
  begin: '<!-- startup: pnpm bench study startup --heats 10 -->',
  end: '<!-- end of startup -->',
} as const

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const PAGE = `${ROOT}docs/choosing-a-framework.md`

const HEADINGS = ['start ms', '95 %', 'with cache', 'MB ready', 'MB peak', 'image MB over base']

/**
 * Writes the table into docs/choosing-a-framework.md, between its two marks.
 * @param imageBytes what the image of a framework adds to its base; undefined if this machine does not have both
 * @throws {ResultError} if the page has no place for it, or nothing was measured
 */
export function writeStartup(
  { analysis, settings, versions, machine, startedAt }: Result,
  { page = PAGE, imageBytes = imageSize } = {},
): void {
  const cells = analysis?.cells ?? []
  if (cells.length === 0) throw new ResultError(`${page} is as it was: no heat ended.`)
  const figure = (system: string, metric: Metric) =>
    cells.find((one) => one.system === system && one.void === null)?.figures[metric]
  const apps = cells.map(({ system }) => system).filter((system) => !system.endsWith(` ${CACHED}`))
  const sizes = new Map(apps.map((app) => frameworkOf(app)).map((name) => [name, imageBytes(name)]))
  const rows = apps.map((app) => {
    const start = figure(app, 'startup')
    return [
      app,
      orUnknown(start?.value, formatMs),
      start === undefined ? UNKNOWN : formatEnds(start, formatMs),
      orUnknown(figure(`${app} ${CACHED}`, 'startup')?.value, formatMs),
      megabytes(figure(app, 'ready-memory')),
      megabytes(figure(app, 'peak-memory')),
      orUnknown(sizes.get(frameworkOf(app)), formatMegabytes),
    ]
  })
  const columns = [
    { heading: '', align: 'left' as const, priority: 0 },
    ...HEADINGS.map((heading) => ({ heading, align: 'right' as const, priority: 0 })),
  ]
  const table = markdownTable({ columns, rows: rows.map((texts) => ({ tone: 'plain', cells: texts })) }, 0)
  const about =
    `${settings.heats} starts of each app, alone, from the start of its process to the last byte of its first right response; memory at that moment, and the highest until then. ` +
    'Pinned to one core it is not the start-up of a deployment, which has more. Earlier starts had read the files, so they came from the page cache. ' +
    '"With cache": `NODE_COMPILE_CACHE`, filled by an earlier start. The image of a framework has all its apps; its base is that of the runtime, and sizes are uncompressed. ' +
    `Measured by \`pnpm bench study startup --heats ${settings.heats}\` on ${startedAt.slice(0, 10)} at commit ${versions.startgrid} on ${describeMachine(machine)}.`
  writeBetween(page, MARKS, [table, about].join('\n\n'))
}

function frameworkOf(app: string): string {
  return app.split('/')[0] ?? ''
}

function formatMs(seconds: number): string {
  return formatShort(seconds * 1000)
}

function megabytes(found: Interval | undefined): string {
  return orUnknown(found?.value, formatMegabytes)
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
