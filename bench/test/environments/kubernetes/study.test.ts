import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { AGENT, frontPortOf, portOf, studyPod } from '../../../src/environments/kubernetes/pods.ts'
import { whyNotInPods } from '../../../src/environments/kubernetes/study.ts'
import { fitTo, planCells } from '../../../src/experiment/cells.ts'
import { judgeClaim } from '../../../src/judge/study/claim.ts'
import type { Claim } from '../../../src/model/experiment.ts'
import type { ClusterNode } from '../../../src/model/result.ts'
import { STUDIES } from '../../../studies/index.ts'

const studyOf = (name: string) => {
  const study = STUDIES.find((one) => one.name === name)
  assert.ok(study !== undefined)
  return study
}

const cluster = studyOf('cluster')
const nginx = studyOf('nginx-proxy')
const METADATA = { name: 'bench-1-servers-1' }

function reasonsOf(study: typeof cluster): Map<string, string | null> {
  return new Map(planCells(study).map((cell) => [cell.app, whyNotInPods(study.systems[cell.app], cell)]))
}

describe('a study in a cluster', () => {
  test('measures workers of one pod, and says why it measures no others', () => {
    const reasons = reasonsOf(cluster)
    for (const system of ['single', 'cluster-4', 'reuse-port-4'])
      assert.equal(reasons.get(system), null, system)
    assert.match(reasons.get('balanced-4') ?? '', /^several copies behind one NGINX/)
    const others = reasonsOf(nginx)
    assert.equal(others.get('nginx'), null)
    assert.equal(others.get('fastify-naive'), null)
    assert.equal(others.get('nginx-autocannon'), 'autocannon does not run in a cluster')
    assert.equal(others.get('files-nginx'), 'the image of NGINX has no configuration for it')
    const probes = reasonsOf(studyOf('worker-pool'))
    assert.ok([...probes.values()].every((reason) => reason !== null))
  })

  test('gives a system its workers, its flags and an NGINX of its own', () => {
    const four = cluster.systems['cluster-4']
    const [app, agent] = (four && studyPod(METADATA, {}, four).spec?.containers) ?? []
    assert.deepEqual(app?.args, ['node', 'src/server.ts', 'hello'])
    const env = Object.fromEntries(app?.env?.map(({ name, value }) => [name, value]) ?? [])
    assert.deepEqual([env.CLUSTER, env.WORKERS, env.PORT], ['cluster', '4', String(portOf(0))])
    assert.equal(agent?.name, AGENT)
    const naive = nginx.systems['fastify-naive']
    const front = naive && studyPod(METADATA, {}, naive).spec?.containers[1]
    const config = front?.env?.[0]?.value ?? ''
    assert.match(config, new RegExp(`listen 0\\.0\\.0\\.0:${frontPortOf(0)};`))
    assert.match(config, new RegExp(`proxy_pass http://127\\.0\\.0\\.1:${portOf(0)};`))
    const alone = nginx.systems.nginx
    const containers = (alone && studyPod(METADATA, {}, alone).spec?.containers) ?? []
    assert.deepEqual(
      containers.map(({ name }) => name),
      ['app', AGENT],
    )
    assert.match(containers[0]?.env?.[0]?.value ?? '', new RegExp(`listen 0\\.0\\.0\\.0:${portOf(0)};`))
  })

  test('decides no claim where its nodes are one machine, or where the node has too few cores', () => {
    const cells = planCells(cluster)
    fitTo(cells, 2)
    const claim = cluster.claims[0] as Claim
    const node = (name: string, bootId: string): ClusterNode => ({
      ...{ name, role: name === 'node1' ? 'servers' : 'generators', cpus: [0, 1], bootId },
      machine: { cpu: 'x', cores: 2, memoryBytes: 1, os: 'Debian', kernel: 'Linux', governor: null },
    })
    const undecided = (second: string) =>
      judgeClaim(claim, {
        cluster: { nodes: [node('node1', 'a'), node('node2', second)] },
        ...{ cells, figures: [], ratio: () => null },
        measured: {
          value: () => undefined,
          cpu: () => ({ app: undefined, proxy: undefined }),
          ...{ upstreamConnections: () => undefined, coreUse: () => undefined, openRate: () => undefined },
        },
      })
    assert.deepEqual(
      [undecided('a').verdict, undecided('a').undecided],
      [
        'undecided here',
        'node1 and node2 are nodes of one machine, so servers and generators share its processors',
      ],
    )
    assert.equal(undecided('b').undecided, 'node:cluster, 4 workers needs 4 cores, and node1 has 2 for it')
  })
})
