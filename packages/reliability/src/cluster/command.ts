import { parseCommandLine, UsageError } from '@startgrid/cli/arguments.ts'
import { listenForInterruption } from '@startgrid/cli/interruption.ts'
import { createProgress } from '@startgrid/cli/progress.ts'
import { type App, findApps } from '@startgrid/grid/apps.ts'
import { NAMESPACE } from '@startgrid/grid/kubernetes.ts'
import { Cluster } from '@startgrid/grid/kubernetes-cluster.ts'
import { KubernetesError } from '@startgrid/grid/kubernetes-error.ts'
import { groupApps } from '../report/app-groups.ts'
import { CLUSTER_MATRIX, writePage } from '../report/docs.ts'
import { createResult, LATEST_CLUSTER, readResult, STORED_CLUSTER, writeResult } from '../report/result.ts'
import { formatCell, formatFaults, formatMatrix } from '../report/terminal.ts'
import type { Cell } from '../run.ts'
import { CLUSTER_FAULTS, type ClusterFault } from './cluster-fault.ts'
import { ClusterSubject, type LostNode } from './cluster-subject.ts'

/** `pnpm reliability --kubernetes`: faults of a cluster, tried on the grid that runs there. */

const CLUSTER_HELP = `pnpm reliability --kubernetes [APP …] [options]   faults of a cluster, tried on the
grid that runs there (kubectl apply -k deploy/kubernetes/grid)

  APP                  an app, a framework or a role (default: one app per runtime;
                       with --full every app)
  --fault NAME         only this one; may be given again
  --full               every app
  --namespace NAME     where the grid is (default: ${NAMESPACE})
  --context NAME       of the kubeconfig
  --node NAME, --node-down COMMAND, --node-up COMMAND
                       how a node vanishes and comes back, for node-lost
  --docs               with --full or APP: stores the result and makes
                       docs/reliability.md again; alone: makes it again from the
                       stored result
  --list               prints the faults
`

/** Apps at a time under faults that concern a single app. */
const AT_ONCE = 4

/** @returns the exit code */
export async function clusterMain(args: readonly string[]): Promise<number> {
  const options = readClusterOptions(args)
  if (options.help) return print(CLUSTER_HELP)
  if (options.list) return print(formatFaults(options.faults))
  const areChosen = options.full || options.apps !== undefined
  if (options.docs && !areChosen) return regenerate()
  const cluster = new Cluster(options.namespace, options.context)
  const subject = new ClusterSubject(cluster, options.lost)
  const running = await subject.apps()
  const apps = running.filter(({ name }) => options.apps?.has(name) ?? true)
  if (apps.length === 0)
    throw new KubernetesError(
      `None of these apps is running there, only ${groupApps(running.map(({ name }) => name))}.`,
    )
  const result = createResult({
    size: areChosen ? 'full' : 'short',
    seed: 1,
    command: ['pnpm reliability', ...args.map(quote)].join(' '),
    nginx: await describeCluster(cluster),
    faults: options.faults.map(({ name }) => name),
    apps: apps.map(({ name }) => name),
  })
  const progress = createProgress()
  const { signal, code } = listenForInterruption(progress)
  const onCell = (cell: Cell): void => {
    result.cells.push(cell)
    writeResult(LATEST_CLUSTER, result)
    progress.say(formatCell(cell))
  }
  try {
    progress.say('The pods of each app must be on different nodes first.')
    const few = areChosen ? apps : onePerRuntime(apps)
    await subject.spread(options.faults.some(({ ofNode }) => ofNode) ? apps : few)
    for (const fault of options.faults) {
      if (signal.aborted) return code()
      await tryClusterFault(fault, subject, fault.ofNode ? apps : few, signal, onCell)
    }
  } finally {
    progress.stop()
  }
  process.stdout.write(formatMatrix(result))
  writeResult(LATEST_CLUSTER, { ...result, finishedAt: new Date().toISOString() })
  if (options.docs) {
    writeResult(STORED_CLUSTER, readResult(LATEST_CLUSTER))
    regenerate()
  }
  return result.cells.some(({ state }) => state === 'failed') ? 1 : 0
}

/** @throws {UsageError} in one sentence */
function readClusterOptions(args: readonly string[]) {
  const { values, positionals } = parseCommandLine(
    args,
    {
      kubernetes: { type: 'boolean' },
      fault: { type: 'string', multiple: true, default: CLUSTER_FAULTS.map(({ name }) => name) },
      full: { type: 'boolean', default: false },
      namespace: { type: 'string', default: NAMESPACE },
      context: { type: 'string' },
      node: { type: 'string' },
      'node-down': { type: 'string' },
      'node-up': { type: 'string' },
      docs: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
    'pnpm reliability --kubernetes',
  )
  const names = CLUSTER_FAULTS.map(({ name }) => name)
  const unknown = values.fault.find((name) => !names.includes(name))
  if (unknown !== undefined)
    throw new UsageError(`A cluster has no fault '${unknown}', only ${names.join(', ')}.`)
  if (values.docs && values.fault.length < CLUSTER_FAULTS.length)
    throw new UsageError('--docs is about all faults: leave out --fault.')
  return {
    ...values,
    apps:
      positionals.length === 0 ? undefined : new Set(positionals.flatMap(findApps).map(({ name }) => name)),
    faults: CLUSTER_FAULTS.filter(({ name }) => values.fault.includes(name)),
    lost: readLostNode(values.node, values['node-down'], values['node-up']),
  }
}

function readLostNode(name?: string, down?: string, up?: string): LostNode | undefined {
  if (name !== undefined && down !== undefined && up !== undefined) return { name, down, up }
  if ([name, down, up].every((one) => one === undefined)) return undefined
  throw new UsageError('--node, --node-down and --node-up belong together: give all three.')
}

function onePerRuntime(apps: readonly App[]): App[] {
  const roles = ['hello', 'ssr', 'status']
  return [...Map.groupBy(apps, ({ runtime }) => runtime).values()].flatMap(
    (group, index) => group.find(({ role }) => role === roles[index % roles.length]) ?? [],
  )
}

/** A fault of a node at all apps at once; another one at some apps at a time. */
export async function tryClusterFault(
  fault: ClusterFault,
  subject: ClusterSubject,
  apps: readonly App[],
  signal: AbortSignal,
  onCell: (cell: Cell) => void,
): Promise<void> {
  const open = (fault.ofNode ? [apps] : apps.map((app) => [app])).values()
  const work = async (): Promise<void> => {
    for (const some of open) {
      if (signal.aborted) return
      for (const cell of await tryOn(fault, subject, some)) onCell(cell)
    }
  }
  await Promise.all(Array.from({ length: fault.ofNode ? 1 : AT_ONCE }, work))
}

/** An error is a finding for all of these apps, so nothing passes untested. */
async function tryOn(fault: ClusterFault, subject: ClusterSubject, apps: readonly App[]): Promise<Cell[]> {
  const startedAt = performance.now()
  const absence = fault.absent?.(subject)
  const base = { fault: fault.name, notes: [], figures: {}, seconds: 0 }
  if (absence !== undefined)
    return apps.map(({ name }) => ({ ...base, app: name, state: 'absent', findings: [absence] }))
  const known = await fault.run(subject, apps).catch((error: unknown) => error)
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10
  return apps.map(({ name }) => {
    const outcome = known instanceof Map ? known.get(name) : undefined
    const { findings, figures } = outcome ?? { findings: [messageOf(known)] }
    return {
      ...base,
      app: name,
      seconds,
      figures: figures ?? {},
      findings,
      state: findings.length === 0 ? 'passed' : 'failed',
    }
  })
}

/** A word for a shell. */
function quote(word: string): string {
  return /^[\w./=:-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

async function describeCluster(cluster: Cluster): Promise<string> {
  const nodes = await cluster.nodes()
  const version = nodes[0]?.status?.nodeInfo?.kubeletVersion ?? 'of an unknown version'
  const sizes = nodes.map(({ metadata, status }) => `${metadata?.name} with ${status?.capacity?.cpu} CPUs`)
  return `Kubernetes ${version}, ${nodes.length} nodes (${sizes.join(', ')})`
}

function regenerate(): number {
  writePage(readResult(STORED_CLUSTER), undefined, CLUSTER_MATRIX)
  process.stderr.write('Made again: the matrix for clusters in docs/reliability.md.\n')
  return 0
}

function print(text: string): number {
  process.stdout.write(text)
  return 0
}
