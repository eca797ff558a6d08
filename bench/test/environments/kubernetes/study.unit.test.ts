import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { systemOf } from '../../../src/environments/environment.ts'
import {
  AGENT,
  frontPortOf,
  layOut,
  portOf,
  serverPod,
  whyNotInPods,
} from '../../../src/environments/kubernetes/pods.ts'
import { fitTo, newCell, planCells } from '../../../src/experiment/cells.ts'
import { judgeClaim } from '../../../src/judge/study/claim.ts'
import type { Claim } from '../../../src/model/experiment.ts'
import type { ClusterNode } from '../../../src/model/provenance.ts'
import { STUDIES } from '../../../studies/index.ts'

const studyOf = (name: string) => {
  const study = STUDIES.find((one) => one.name === name)
  assert.ok(study !== undefined)
  return study
}

const cluster = studyOf('cluster')
const nginx = studyOf('nginx-proxy')
const METADATA = { name: 'bench-1-servers-1' }

/** The pod of some systems of a study. */
function podOf(study: typeof cluster, ...names: string[]) {
  const layout = layOut(
    names.map((name) => {
      const cell = newCell({ id: name, race: '', app: name })
      return { cell, system: systemOf(study, cell) }
    }),
  )
  return { containers: serverPod(METADATA, {}, layout).spec?.containers ?? [], parts: layout.parts }
}

function reasonsOf(study: typeof cluster): Map<string, string | null> {
  return new Map(planCells(study).map((cell) => [cell.app, whyNotInPods(systemOf(study, cell), cell)]))
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
    assert.equal(others.get('files-nginx'), null)
    const probes = reasonsOf(studyOf('worker-pool'))
    assert.ok([...probes.values()].every((reason) => reason !== null))
  })

  test('gives a system its workers, its flags and an NGINX of its own', () => {
    const [app, agent] = podOf(cluster, 'cluster-4').containers
    assert.deepEqual(app?.args, ['node', 'src/server.ts', 'hello'])
    const env = Object.fromEntries(app?.env?.map(({ name, value }) => [name, value]) ?? [])
    assert.deepEqual([env.CLUSTER, env.WORKERS, env.PORT], ['cluster', '4', String(portOf(0))])
    assert.equal(agent?.name, AGENT)
    const { containers, parts } = podOf(nginx, 'fastify-naive', 'node', 'fastify-nginx')
    assert.deepEqual(
      containers.map(({ name }) => name),
      ['fastify-naive', 'node', 'fastify-nginx', 'nginx', 'nginx-fastify-nginx', AGENT],
    )
    const ports = containers.flatMap(({ startupProbe }) => startupProbe?.httpGet?.port ?? [])
    assert.equal(new Set(ports).size, 5, 'they share the network of the pod')
    assert.deepEqual(parts.get('fastify-naive'), {
      ...{ app: 'fastify-naive', proxy: 'nginx', port: frontPortOf(0) },
    })
    assert.deepEqual(parts.get('node'), { app: 'node', proxy: null, port: portOf(1) })
    const config = containers[3]?.env?.[0]?.value ?? ''
    assert.match(config, new RegExp(`listen 0\\.0\\.0\\.0:${frontPortOf(0)};`))
    assert.match(config, new RegExp(`proxy_pass http://127\\.0\\.0\\.1:${portOf(0)};`))
  })

  test('gives an NGINX that is alone the responses of the study', () => {
    const { containers, parts } = podOf(nginx, 'nginx')
    assert.deepEqual(
      containers.map(({ name }) => name),
      ['nginx', AGENT],
    )
    assert.deepEqual(parts.get('nginx'), { app: 'nginx', proxy: null, port: frontPortOf(0) })
    const config = containers[0]?.env?.[0]?.value ?? ''
    const [, alone = ''] = config.split(`listen 0.0.0.0:${frontPortOf(0)};`)
    // It gave 502: only /ceiling had a response, and nothing stands behind.
    assert.match(alone, /location = \/json \{\s+types \{ \}[^}]*return 200 '\{"hello":"world"\}';/)
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
