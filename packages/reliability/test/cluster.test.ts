import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { APPS } from '@startgrid/grid/apps.ts'
import { KubernetesError } from '@startgrid/grid/kubernetes-error.ts'
import type { InPodTally } from '../src/clients/in-pod.ts'
import { CLUSTER_FAULTS } from '../src/cluster/cluster-fault.ts'
import { ClusterSubject } from '../src/cluster/cluster-subject.ts'
import { tryClusterFault } from '../src/cluster/command.ts'
import type { Cell } from '../src/run.ts'
import { type Behaviour, FakeCluster } from './fake-cluster.ts'

/** The faults of a cluster, on one that is a few lists. */

const LIMIT = { timeout: 120_000 }

const LOST: Partial<InPodTally> = { failures: [['GET /json: 502', 2]], lastFailureMs: 1_234 }

const directory = mkdtempSync(join(tmpdir(), 'startgrid-cluster-'))
after(() => rmSync(directory, { recursive: true }))

/** Exists while node3 is away. */
const AWAY = join(directory, 'away')
const NODE_3 = { name: 'node3', down: `touch '${AWAY}'`, up: `rm '${AWAY}'` }

const HELLO = APPS.filter(({ name }) => name === 'node/hello')
const TWO = APPS.filter(({ name }) => ['node/hello', 'koa/ssr'].includes(name))

/** Tries a fault on a cluster that behaves in this way. */
async function trial(name: string, behaviour: Behaviour = {}, apps = HELLO) {
  const fault = CLUSTER_FAULTS.find((one) => one.name === name)
  assert.ok(fault)
  const cluster = new FakeCluster(apps, behaviour, () => existsSync(AWAY))
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
  const subject = new ClusterSubject(new FakeCluster(HELLO))
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
  const cluster = new FakeCluster(HELLO)
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
  const empty = new ClusterSubject(new FakeCluster([]))
  await assert.rejects(
    empty.apps(),
    new KubernetesError('The grid is not running there: kubectl apply -k deploy/kubernetes/grid'),
  )
  const both = await new ClusterSubject(new FakeCluster(TWO)).apps()
  assert.deepEqual(
    both.map(({ name }) => name),
    TWO.map(({ name }) => name),
  )
})
