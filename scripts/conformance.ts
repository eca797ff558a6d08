import { formatReport, NoResponse } from '@startgrid/conformance'
import { ComposeError, listServices } from '@startgrid/grid/compose-project.ts'
import { type ComposeCell, listCells, proveCell } from './compose-conformance.ts'
import { writeManners } from './manners.ts'

/**
 * `pnpm conformance`: of one server, or with `--docker` of every service that Compose has started, through both of its ports; with
 * `--manners` of every app, to write docs/manners.md.
 * The exit code is 0 if all conform, 1 if one does not, 2 if nothing could be checked.
 */

/** Two cores render the pages of so many suites without a timeout. */
const AT_ONCE = 4

async function main(args: readonly string[]): Promise<void> {
  const others = args.filter((word) => word !== '--docker' && word !== '--manners')
  if (args.includes('--docker')) process.exitCode = await proveServices(others)
  else if (args.includes('--manners')) process.exitCode = await recordManners(others)
  else await import('@startgrid/conformance/cli.ts')
}

async function proveServices([extra]: string[]): Promise<number> {
  if (extra !== undefined) return refuse(`--docker checks all services and takes no '${extra}'.`)
  try {
    const cells = listCells(await listServices())
    if (cells.length === 0)
      return refuse('No app is running: start them with docker compose up --build --wait')
    const failed = await proveAll(cells)
    process.stdout.write(`${cells.length - failed} of ${cells.length} conform\n`)
    return failed === 0 ? 0 : 1
  } catch (error) {
    if (error instanceof ComposeError) return refuse(error.message)
    throw error
  }
}

async function recordManners([extra]: string[]): Promise<number> {
  return extra === undefined ? writeManners() : refuse(`--manners starts all apps and takes no '${extra}'.`)
}

function refuse(sentence: string): number {
  process.stderr.write(`${sentence}\n`)
  return 2
}

/** @returns how many do not conform */
async function proveAll(cells: readonly ComposeCell[]): Promise<number> {
  const open = cells.values()
  let failed = 0
  const work = async (): Promise<void> => {
    for (const cell of open) {
      const { conforms, text } = await describeProof(cell)
      if (!conforms) failed += 1
      process.stdout.write(`${`${cell.app.name} ${cell.topology}`.padEnd(24)} ${text}\n`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return failed
}

async function describeProof(cell: ComposeCell): Promise<{ conforms: boolean; text: string }> {
  try {
    const report = await proveCell(cell)
    if (report === undefined) return { conforms: false, text: 'is not running' }
    const { passed, differences } = report
    if (differences.length > 0) return { conforms: false, text: `differs\n\n${formatReport(report)}\n` }
    return { conforms: true, text: `conforms: ${passed.length} checks` }
  } catch (error) {
    if (error instanceof NoResponse) return { conforms: false, text: error.message }
    throw error
  }
}

await main(process.argv.slice(2))
