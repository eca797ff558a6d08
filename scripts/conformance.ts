import { UsageError } from '@startgrid/cli/arguments.ts'
import { checkConformance, formatReport, NoResponse } from '@startgrid/conformance/runner.ts'
import { ComposeError, listCells, listServices } from './compose.ts'

/**
 * `pnpm conformance`: of one server, or with `--docker` of every app that Compose has started, through both of its ports.
 * The exit code is 0 if all conform, 1 if one does not, 2 if nothing could be checked.
 */

/** @returns the exit code */
async function proveServices([extra]: readonly string[]): Promise<number> {
  if (extra !== undefined) throw new UsageError(`--docker checks all services and takes no '${extra}'.`)
  const cells = listCells(await listServices())
  if (cells.length === 0)
    throw new ComposeError('No app is running: start them with docker compose up --build --wait')
  let conforming = 0
  for (const { app, topology, options } of cells) {
    let text = 'is not running'
    try {
      const report = options && (await checkConformance(options))
      if (report?.differences.length === 0) {
        conforming += 1
        text = `conforms: ${report.passed.length} checks`
      } else if (report) text = `differs\n\n${formatReport(report)}\n`
    } catch (error) {
      if (!(error instanceof NoResponse)) throw error
      text = error.message
    }
    process.stdout.write(`${`${app.name} ${topology}`.padEnd(24)} ${text}\n`)
  }
  process.stdout.write(`${conforming} of ${cells.length} conform\n`)
  return conforming === cells.length ? 0 : 1
}

const args = process.argv.slice(2)
if (!args.includes('--docker')) await import('@startgrid/conformance/cli.ts')
else
  process.exitCode = await proveServices(args.filter((word) => word !== '--docker')).catch((error) => {
    if (!(error instanceof ComposeError || error instanceof UsageError)) throw error
    process.stderr.write(`${error.message}\n`)
    return 2
  })
