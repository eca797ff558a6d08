import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { after, test } from 'node:test'
import { APPS, type App } from '@startgrid/grid/apps.ts'
import { FRONT_SERVICE, serviceName } from '@startgrid/grid/compose.ts'
import { type Command, KubernetesError, type Running } from '@startgrid/grid/kubernetes-cluster.ts'
import type { InPodTally } from '../src/clients/in-pod.ts'
import { CLUSTER_FAULTS } from '../src/cluster/cluster-fault.ts'
import { type ClusterApi, ClusterSubject } from '../src/cluster/cluster-subject.ts'
import { tryClusterFault } from '../src/cluster/command.ts'
import type { Cell } from '../src/run.ts'

/** The faults of a cluster, on a cluster that is a few lists. */

const LIMIT = { timeout: 120_000 }

type Deployment = Awaited<ReturnType<ClusterApi['deployment']>>
type Pod = Awaited<ReturnType<ClusterApi['pods']>>[number]
type Node = Awaited<ReturnType<ClusterApi['nodes']>>[number]

const FINE: InPodTally = {
  responded: 500,
  shed: 0,
  crossed: 0,
  failures: [],
  lastFailureMs: null,
  lastedMs: 60_000,
}
const LOST: Partial<InPodTally> = { failures: [['GET /json: 502', 2]], lastFailureMs: 1_234 }

const directory = mkdtempSync(join(tmpdir(), 'startgrid-cluster-'))
after(() => rmSync(directory, { recursive: true }))

/** Exists while node3 is away. */
const AWAY = join(directory, 'away')
const NODE_3 = { name: 'node3', down: `touch '${AWAY}'`, up: `rm '${AWAY}'` }

interface Behaviour {
  readonly direct?: Partial<InPodTally>
  readonly nginx?: Partial<InPodTally>
  /** New pods do not become ready, killed ones do not start again, nobody notices that a node is away, and no pod may be evicted. */
  readonly isStuck?: boolean
  /** The method for which a permission is missing. */
  readonly forbidden?: 'patchDeployment' | 'setSchedulable' | 'evict' | 'run' | 'start' | 'startPod' | 'nodes'
}

class FakeCluster implements ClusterApi {
  readonly namespace = 'test'
  /** What was done to it, in order. */
  readonly did: string[] = []
  readonly #behaviour: Behaviour
  readonly #pods = new Map<string, Pod[]>()
  readonly #cordoned = new Set<string>()
  #clients: Pod[] = []
  #made = 0

  constructor(apps: readonly App[], behaviour: Behaviour) {
    this.#behaviour = behaviour
    for (const name of [...apps.map(serviceName), FRONT_SERVICE]) this.#fill(name, [], 2)
  }

  #isStuck(): boolean {
    return this.#behaviour.isStuck === true
  }

  #allow(method: Behaviour['forbidden']): void {
    if (this.#behaviour.forbidden === method)
      throw new KubernetesError(`The cluster does not let us ${method}: you may not.`)
  }

  /** Pods go to the nodes in turn. */
  #fill(name: string, kept: Pod[], count: number): void {
    const nodes = ['node1', 'node2', 'node3'].filter((node) => !this.#cordoned.has(node))
    while (kept.length < count) {
      const nodeName = nodes[++this.#made % nodes.length] ?? 'none'
      kept.push({
        metadata: { name: `${name}-${this.#made}` },
        spec: { nodeName, containers: [] },
        status: { conditions: [{ type: 'Ready', status: 'True' }] },
      })
    }
    this.#pods.set(name, kept.slice(0, count))
  }

  async deployments(): Promise<Map<string, Deployment>> {
    return new Map(
      await Promise.all(
        [...this.#pods.keys()].map(async (name) => [name, await this.deployment(name)] as const),
      ),
    )
  }

  async deployment(name: string): Promise<Deployment> {
    const replicas = this.#pods.get(name)?.length ?? 0
    const isUpdated = !(this.#isStuck() && this.did.some((one) => one.includes(name)))
    return {
      metadata: { generation: 2 },
      spec: { replicas, selector: {}, template: {} },
      status: {
        observedGeneration: 2,
        updatedReplicas: isUpdated ? replicas : 0,
        availableReplicas: replicas,
      },
    }
  }

  async patchDeployment(name: string, patch: { spec?: { replicas?: number } }): Promise<void> {
    this.#allow('patchDeployment')
    const replicas = patch.spec?.replicas
    this.did.push(replicas === undefined ? `restart ${name}` : `scale ${name} to ${replicas}`)
    if (replicas === undefined) this.#fill(name, [], this.#pods.get(name)?.length ?? 0)
    else this.#fill(name, [...(this.#pods.get(name) ?? [])], replicas)
  }

  async pods(name?: string): Promise<Pod[]> {
    if (name === 'loadgen') return this.#clients
    return name === undefined ? [...this.#pods.values(), this.#clients].flat() : (this.#pods.get(name) ?? [])
  }

  async nodes(): Promise<Node[]> {
    this.#allow('nodes')
    return ['node1', 'node2', 'node3'].map((name) => {
      const isReady = this.#isStuck() || name !== 'node3' || !existsSync(AWAY)
      return {
        metadata: { name },
        spec: { unschedulable: this.#cordoned.has(name) },
        status: { conditions: [{ type: 'Ready', status: isReady ? 'True' : 'Unknown' }] },
      }
    })
  }

  async setSchedulable(name: string, schedulable: boolean): Promise<void> {
    this.#allow('setSchedulable')
    this.did.push(schedulable ? `uncordon ${name}` : `cordon ${name}`)
    if (schedulable) this.#cordoned.delete(name)
    else this.#cordoned.add(name)
  }

  async evict(name: string): Promise<boolean> {
    this.#allow('evict')
    if (this.#isStuck()) return false
    for (const [app, pods] of this.#pods) {
      const others = pods.filter(({ metadata }) => metadata?.name !== name)
      if (others.length < pods.length) this.#fill(app, others, pods.length)
    }
    this.did.push(`evict ${name}`)
    return true
  }

  async startPod(template: string, node?: string): Promise<string> {
    this.#allow('startPod')
    this.did.push(`start ${template} on ${node}`)
    this.#clients = [{ metadata: { name: template }, spec: { nodeName: node ?? 'node1', containers: [] } }]
    return template
  }

  async removePod(name: string): Promise<void> {
    this.did.push(`remove ${name}`)
    this.#clients = []
  }

  async run(pod: string, _container: string, command: readonly string[]): Promise<Command> {
    this.#allow('run')
    this.did.push(`${command.at(-1)} in ${pod}`)
    const found = (await this.pods()).find(({ metadata }) => metadata?.name === pod)
    if (found?.status !== undefined && !this.#isStuck())
      found.status.containerStatuses = [{ name: 'app', restartCount: 1, image: '', imageID: '', ready: true }]
    return { code: 137, stdout: '', stderr: '' }
  }

  /** Clients that have their tallies already: those of even targets go directly, the others through NGINX. */
  async start(_pod: string, _container: string, command: readonly string[]): Promise<Running> {
    this.#allow('start')
    const { direct, nginx } = this.#behaviour
    const targets: unknown[] = JSON.parse(command.at(-1) ?? '')
    const tallies = targets.map((_, index) => ({ ...FINE, ...(index % 2 === 0 ? direct : nginx) }))
    const [stdin, stdout] = [new PassThrough(), new PassThrough()]
    stdout.write('ready\n')
    stdin.on('data', (data) => {
      if (String(data).includes('stop')) stdout.end(`${JSON.stringify(tallies)}\n`)
    })
    return { stdin, stdout, ended: Promise.resolve(0), stderr: Promise.resolve('') }
  }
}

const HELLO = APPS.filter(({ name }) => name === 'node/hello')
const TWO = APPS.filter(({ name }) => ['node/hello', 'koa/ssr'].includes(name))

/** Tries a fault on a cluster that behaves in this way. */
async function trial(name: string, behaviour: Behaviour = {}, apps = HELLO) {
  const fault = CLUSTER_FAULTS.find((one) => one.name === name)
  assert.ok(fault)
  const cluster = new FakeCluster(apps, behaviour)
  const times = {
    patienceS: behaviour.isStuck === true ? 0 : 120,
    pollMs: 1,
    aftermathMs: 0,
    namedAfterMs: 0,
    withoutNodeMs: 0,
  }
  const cells: Cell[] = []
  const { signal } = new AbortController()
  const onCell = (cell: Cell) => void cells.push(cell)
  await tryClusterFault(fault, new ClusterSubject(cluster, NODE_3, times), apps, signal, onCell)
  const [cell] = cells
  assert.ok(cell)
  return { cells, did: cluster.did, state: cell.state, findings: cell.findings, figures: cell.figures }
}

const NAMES = CLUSTER_FAULTS.map(({ name }) => name)

test(
  'every fault passes if no request fails, does what it says, and leaves the cluster as it was',
  LIMIT,
  async () => {
    const done = {
      'rolling-update': /^start loadgen on node\d, restart node-hello, remove loadgen$/,
      scaling:
        /^scale node-hello to 1, start loadgen on node\d, scale node-hello to 4, scale node-hello to 1, remove loadgen, scale node-hello to 2$/,
      'pod-killed': /^start loadgen on node\d, kill -9 -1 in node-hello-\d, remove loadgen$/,
      drain:
        /^start loadgen on node\d, cordon (node\d), (evict (?!loadgen)\S+, )+uncordon \1, remove loadgen$/,
      'node-lost': /^start loadgen on node[12], remove loadgen$/,
    }
    assert.deepEqual(Object.keys(done).sort(), NAMES.toSorted())
    for (const [name, expected] of Object.entries(done)) {
      const { state, findings, did, figures } = await trial(name)
      assert.deepEqual([name, state, findings], [name, 'passed', []])
      assert.match(did.join(', '), expected)
      assert.equal(figures.requests, 1_000)
    }
    assert.ok(!existsSync(AWAY), 'node3 is not back')
  },
)

test(
  'a request that is lost when pods end in good order is found, directly and behind NGINX',
  LIMIT,
  async () => {
    for (const name of ['rolling-update', 'scaling', 'drain']) {
      const directly = await trial(name, { direct: LOST })
      assert.deepEqual(directly.findings, [
        'Requests failed directly: GET /json: 502 (2 times). 500 got a response.',
      ])
      const behind = await trial(name, { nginx: LOST })
      assert.deepEqual(behind.findings, [
        'Requests failed behind NGINX: GET /json: 502 (2 times). 500 got a response.',
      ])
      const crossed = await trial(name, { direct: { crossed: 1 } })
      assert.match(
        crossed.findings.join(),
        /^Requests failed directly: 1 on kept connections that were closed as idle\./,
      )
      const silent = await trial(name, { direct: { responded: 0 } })
      assert.deepEqual(silent.findings, ['No request got a response directly.'])
      assert.deepEqual(
        new Set([directly, behind, crossed, silent].map(({ state }) => state)),
        new Set(['failed']),
      )
    }
  },
)

test('after a kill, requests may fail directly, and are counted; behind NGINX none may', LIMIT, async () => {
  const directly = await trial('pod-killed', { direct: { ...LOST, crossed: 3 } })
  assert.equal(directly.state, 'passed')
  assert.deepEqual(directly.figures, {
    requests: 1_000,
    shed: 0,
    'failed, direct': 5,
    'last failure, direct, s': 1.2,
  })
  const behind = await trial('pod-killed', { nginx: LOST })
  assert.deepEqual(behind.findings, [
    'Requests failed behind NGINX: GET /json: 502 (2 times). 500 got a response.',
  ])
})

test(
  'after the loss of a node, requests may fail until the cluster has noticed, and not at the end',
  LIMIT,
  async () => {
    const early = await trial('node-lost', { direct: LOST, nginx: LOST })
    assert.equal(early.state, 'passed')
    assert.equal(early.figures['failed, direct'], 2)
    assert.equal(early.figures['last failure, NGINX, s'], 1.2)
    const late = await trial('node-lost', { nginx: { ...LOST, lastFailureMs: 58_000 } })
    assert.deepEqual(late.findings, ['Requests behind NGINX still failed 58 s after the node was gone.'])
  },
)

test('a node whose loss nobody can cause is absent, with what is missing', LIMIT, async () => {
  const fault = CLUSTER_FAULTS.find(({ name }) => name === 'node-lost')
  const subject = new ClusterSubject(new FakeCluster(HELLO, {}))
  assert.equal(fault?.absent?.(subject), 'It needs --node NAME, --node-down COMMAND and --node-up COMMAND.')
})

test(
  'an app without a pod on the node to lose gets one there, and all nodes get pods afterwards',
  LIMIT,
  async () => {
    const { did, cells } = await trial('node-lost', {}, TWO)
    assert.deepEqual(
      cells.map(({ state }) => state),
      ['passed', 'passed'],
    )
    assert.match(
      did.join(', '),
      /^cordon node1, cordon node2, evict koa-ssr-\d, uncordon node1, uncordon node2, start loadgen on node[12], remove loadgen$/,
    )
  },
)

test('an app whose pods may not be evicted fails, and all nodes get pods afterwards', LIMIT, async () => {
  const { did, findings } = await trial('node-lost', { isStuck: true }, TWO)
  assert.deepEqual(findings, ['After 0 s: no pod of koa-ssr may be evicted.'])
  assert.deepEqual(did, ['cordon node1', 'cordon node2', 'uncordon node1', 'uncordon node2'])
})

test('a node without a pod of the app is not lost for nothing', LIMIT, async () => {
  const fault = CLUSTER_FAULTS.find(({ name }) => name === 'node-lost')
  const times = { patienceS: 120, pollMs: 1, aftermathMs: 0, withoutNodeMs: 0, namedAfterMs: 0 }
  const cluster = new FakeCluster(HELLO, {})
  const subject = new ClusterSubject(cluster, { ...NODE_3, name: 'node9' }, times)
  await assert.rejects(async () => fault?.run(subject, HELLO), new Error('No pod of node-hello is on node9.'))
  assert.deepEqual(cluster.did, [])
})

test('what never becomes whole is found, and the cluster is left as it was', LIMIT, async () => {
  const said = {
    'rolling-update': /^After 0 s: the Deployment node-hello is not complete\.$/,
    scaling: /^After 0 s: the Deployment node-hello is not complete\.$/,
    'pod-killed': /^After 0 s: the killed pod of node-hello has not started again\.$/,
    drain: /^After 0 s: node\d is not drained\.$/,
    'node-lost': /^After 0 s: the cluster does not notice that node3 is gone\.$/,
  }
  assert.deepEqual(Object.keys(said).sort(), NAMES.toSorted())
  for (const [name, expected] of Object.entries(said)) {
    const { state, findings, did } = await trial(name, { isStuck: true })
    assert.equal(state, 'failed')
    assert.match(findings.join('\n'), expected)
    if (name !== 'scaling') assert.equal(did.at(-1), 'remove loadgen')
    else assert.equal(did.at(-1), 'scale node-hello to 2')
    if (name === 'drain') assert.match(did.at(-2) ?? '', /^uncordon node\d$/)
  }
  assert.ok(!existsSync(AWAY), 'node3 is not back')
})

test('a permission that is missing is one sentence for each app', LIMIT, async () => {
  const needed = {
    'rolling-update': ['nodes', 'startPod', 'start', 'patchDeployment'],
    scaling: ['nodes', 'startPod', 'start', 'patchDeployment'],
    'pod-killed': ['nodes', 'startPod', 'start', 'run'],
    drain: ['nodes', 'startPod', 'start', 'setSchedulable', 'evict'],
    'node-lost': ['nodes', 'startPod', 'start', 'setSchedulable', 'evict'],
  } as const
  for (const name of Object.keys(needed) as (keyof typeof needed)[])
    for (const forbidden of needed[name]) {
      const { cells } = await trial(name, { forbidden }, TWO)
      assert.deepEqual(
        cells.map(({ app, state, findings }) => [app, state, findings]),
        TWO.map(({ name: app }) => [
          app,
          'failed',
          [`The cluster does not let us ${forbidden}: you may not.`],
        ]),
      )
    }
})

test('a cluster without the grid is one sentence that names the command', LIMIT, async () => {
  const empty = new ClusterSubject(new FakeCluster([], {}))
  await assert.rejects(
    empty.apps(),
    new KubernetesError('The grid is not running there: kubectl apply -k deploy/kubernetes/grid'),
  )
  const both = await new ClusterSubject(new FakeCluster(TWO, {})).apps()
  assert.deepEqual(
    both.map(({ name }) => name),
    TWO.map(({ name }) => name),
  )
})
