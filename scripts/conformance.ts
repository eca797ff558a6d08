import { parseOptions, UsageError } from '@startgrid/cli/arguments.ts'
import { formatReport, NoResponse, type Report } from '@startgrid/conformance'
import { ComposeError, listServices } from '@startgrid/grid/compose-project.ts'
import { NAMESPACE } from '@startgrid/grid/kubernetes.ts'
import type { Cluster } from '@startgrid/grid/kubernetes-cluster.ts'
import { KubernetesError } from '@startgrid/grid/kubernetes-error.ts'
import { type Cell, listCells, proveCell } from './compose-conformance.ts'
import { listClusterCells, proveInside } from './kubernetes-conformance.ts'
import { writeManners } from './manners.ts'

/**
 * `pnpm conformance`: of one server, or with `--docker` of every service that Compose has started, through both of its ports; with
 * `--kubernetes` the same in a cluster, from a pod inside; with `--manners` of every app, to write docs/manners.md.
 * The exit code is 0 if all conform, 1 if one does not, 2 if nothing could be checked.
 */

/** Two cores render the pages of so many suites without a timeout. */
const AT_ONCE = 4

const RUN_GRID = 'No app is running there: kubectl apply -k deploy/kubernetes/grid'

async function main(args: readonly string[]): Promise<void> {
  if (args.includes('--kubernetes')) {
    process.exitCode = await proveCluster(args)
    return
  }
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
    return await proveAll(cells, (cell) => proveCell(cell))
  } catch (error) {
    if (error instanceof ComposeError) return refuse(error.message)
    throw error
  }
}

async function proveCluster(args: readonly string[]): Promise<number> {
  try {
    const { namespace, context } = parseOptions(
      args,
      {
        kubernetes: { type: 'boolean' },
        namespace: { type: 'string', default: NAMESPACE },
        context: { type: 'string' },
      },
      'pnpm conformance',
    )
    // The client of Kubernetes takes a second to load.
    const { Cluster } = await import('@startgrid/grid/kubernetes-cluster.ts')
    const cluster = new Cluster(namespace, context)
    const cells = await listClusterCells(cluster)
    if (cells.length === 0) return refuse(RUN_GRID)
    return await proveFrom(cluster, cells)
  } catch (error) {
    if (error instanceof KubernetesError || error instanceof UsageError) return refuse(error.message)
    throw error
  }
}

/** From a pod inside, which is removed even after Ctrl-C. */
async function proveFrom(cluster: Cluster, cells: readonly Cell[]): Promise<number> {
  const pod = await cluster.startPod('loadgen')
  const { promise: interrupted, reject } = Promise.withResolvers<never>()
  const interrupt = () => reject(new KubernetesError('Interrupted.'))
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt)
  try {
    return await Promise.race([proveAll(cells, (cell) => proveInside(cluster, pod, cell)), interrupted])
  } finally {
    await cluster.removePod(pod)
  }
}

async function recordManners([extra]: string[]): Promise<number> {
  return extra === undefined ? writeManners() : refuse(`--manners starts all apps and takes no '${extra}'.`)
}

function refuse(sentence: string): number {
  process.stderr.write(`${sentence}\n`)
  return 2
}

type Prove = (cell: Cell) => Promise<Report | undefined>

/** @returns the exit code */
async function proveAll(cells: readonly Cell[], prove: Prove): Promise<number> {
  const open = cells.values()
  let failed = 0
  const work = async (): Promise<void> => {
    for (const cell of open) {
      const { conforms, text } = await describeProof(cell, prove)
      if (!conforms) failed += 1
      process.stdout.write(`${`${cell.app.name} ${cell.topology}`.padEnd(24)} ${text}\n`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  process.stdout.write(`${cells.length - failed} of ${cells.length} conform\n`)
  return failed === 0 ? 0 : 1
}

async function describeProof(cell: Cell, prove: Prove): Promise<{ conforms: boolean; text: string }> {
  try {
    const report = await prove(cell)
    if (report === undefined) return { conforms: false, text: 'is not running' }
    const { passed, differences } = report
    if (differences.length > 0) return { conforms: false, text: `differs\n\n${formatReport(report)}\n` }
    return { conforms: true, text: `conforms: ${passed.length} checks` }
  } catch (error) {
    if (error instanceof NoResponse || error instanceof KubernetesError)
      return { conforms: false, text: error.message }
    throw error
  }
}

await main(process.argv.slice(2))
