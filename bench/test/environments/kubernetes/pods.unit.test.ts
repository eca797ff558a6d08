import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { loadYaml, type V1Pod, type V1Role } from '@kubernetes/client-node'
import { APPS, type App } from '@startgrid/grid/apps.ts'
import type { Placed } from '../../../src/environments/environment.ts'
import {
  AGENT,
  CEILING_PORT,
  frontPortOf,
  generatorPod,
  imageOf,
  layOut,
  portOf,
  scoutPod,
  serverPod,
} from '../../../src/environments/kubernetes/pods.ts'
import { describeMissing, PERMISSIONS, readNodeSelector } from '../../../src/environments/kubernetes/site.ts'
import { newCell } from '../../../src/experiment/cells.ts'

const METADATA = { name: 'bench-1-servers-1' }
const HELLOS = APPS.filter(({ role }) => role === 'hello')
const [NODE] = HELLOS
const TWINS: App[] = [...HELLOS, ...HELLOS.map((app) => ({ ...app, name: `${app.name}#2` }))]

/** As the grid has it in this topology. */
const placedOf = ({ name, framework, role }: App, topology: 'direct' | 'nginx'): Placed => ({
  cell: newCell({ id: `${name} ${topology}`, race: role, app: name, topology }),
  system: {
    ...{ title: framework, launch: name, app: { package: `apps/${framework}`, role } },
    ...(topology === 'nginx' && { nginx: { front: 'nginx' } }),
  },
})
const HEAT = TWINS.flatMap((app) => [placedOf(app, 'direct'), placedOf(app, 'nginx')])
const pods: Record<string, V1Pod> = {
  servers: serverPod(METADATA, { node: 'node1' }, layOut(HEAT)),
  generator: generatorPod(METADATA, { notNodes: ['node1'], labels: { pool: 'bench' } }),
  scout: scoutPod(METADATA, {}, ['node', 'bun', 'njs', 'nginx']),
}

describe('every pod of a run', () => {
  for (const [name, { spec }] of Object.entries(pods)) {
    test(`${name}: small requests, no limit of CPU, a versioned image, and the standard restricted`, () => {
      for (const { image, imagePullPolicy, resources, securityContext } of spec?.containers ?? []) {
        assert.match(image ?? '', /^startgrid\/[a-z0-9]+:v1$/)
        assert.equal(imagePullPolicy, 'IfNotPresent')
        assert.deepEqual(Object.keys(resources?.limits ?? {}), ['memory'])
        assert.match(resources?.requests?.cpu ?? '', /^\d{1,2}m$/)
        assert.equal(securityContext?.allowPrivilegeEscalation, false)
        assert.deepEqual(securityContext?.capabilities, { drop: ['ALL'] })
      }
      assert.equal(spec?.securityContext?.runAsNonRoot, true)
      assert.deepEqual(spec?.securityContext?.seccompProfile, { type: 'RuntimeDefault' })
      assert.equal(spec?.automountServiceAccountToken, false)
      assert.equal(spec?.restartPolicy, 'Never')
    })
  }
})

describe('the pod of the servers', () => {
  const containers = pods.servers?.spec?.containers ?? []

  test('has each app, each twin, NGINX and the agent, all with one user and process ids that the agent sees', () => {
    const names = containers.map(({ name }) => name)
    assert.deepEqual(names.slice(0, 2), ['node-hello', 'fastify-hello'])
    assert.ok(names.includes('node-hello-2'))
    assert.deepEqual(names.slice(-2), ['nginx', AGENT])
    assert.equal(new Set(names).size, TWINS.length + 2)
    assert.equal(pods.servers?.spec?.shareProcessNamespace, true)
    for (const { securityContext } of containers) assert.equal(securityContext?.runAsUser, undefined)
  })

  test('gives each app a port of its own, and no probe that runs beside a slice', () => {
    const ports = containers.map(({ startupProbe }) => startupProbe?.httpGet?.port)
    assert.deepEqual(ports, [...TWINS.map((_, index) => portOf(index)), CEILING_PORT, undefined])
    const all = TWINS.flatMap((_, index) => [portOf(index), frontPortOf(index)]).concat(CEILING_PORT)
    assert.equal(new Set(all).size, all.length)
    for (const { livenessProbe, readinessProbe } of containers)
      assert.deepEqual([livenessProbe, readinessProbe], [undefined, undefined])
  })

  test('tells NGINX where the apps are', () => {
    const config = containers.find(({ name }) => name === 'nginx')?.env?.[0]?.value ?? ''
    for (const index of TWINS.keys()) {
      assert.match(config, new RegExp(`server 127\\.0\\.0\\.1:${portOf(index)} `))
      assert.match(config, new RegExp(`listen 0\\.0\\.0\\.0:${frontPortOf(index)};`))
    }
  })

  test('has no NGINX if no cell needs one', () => {
    const { spec } = serverPod(METADATA, {}, layOut([placedOf(NODE as App, 'direct')]))
    assert.deepEqual(
      spec?.containers.map(({ name }) => name),
      ['node-hello', AGENT],
    )
    assert.deepEqual(spec?.volumes, [])
  })
})

describe('nodes', () => {
  test('are chosen by name for the servers, and the generators are on others', () => {
    const terms = ({ spec }: V1Pod) =>
      spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
    const term = (operator: string) => [
      { matchFields: [{ key: 'metadata.name', operator, values: ['node1'] }] },
    ]
    assert.deepEqual(terms(pods.servers as V1Pod), term('In'))
    assert.deepEqual(terms(pods.generator as V1Pod), term('NotIn'))
    assert.deepEqual(pods.generator?.spec?.nodeSelector, { pool: 'bench' })
    assert.equal(pods.scout?.spec?.affinity, undefined)
  })

  test('can be named or described by labels', () => {
    assert.deepEqual(readNodeSelector('--server-node', 'node1'), { 'kubernetes.io/hostname': 'node1' })
    assert.deepEqual(readNodeSelector('--server-node', 'pool=bench, example.com/disk=ssd'), {
      pool: 'bench',
      'example.com/disk': 'ssd',
    })
    for (const wrong of ['', 'pool=bench,', 'pool in (a)', 'Node 1'])
      assert.throws(() => readNodeSelector('--server-node', wrong), {
        name: 'UsageError',
        message: `--server-node is '${wrong}', but must be the name of a node, or labels of nodes such as pool=bench.`,
      })
  })
})

test('images come from the registry and version that Docker Compose takes from the same variables', () => {
  assert.equal(imageOf('njs', {}), 'startgrid/njs:v1')
  const environment = { STARTGRID_REGISTRY: 'registry.example.com/me', STARTGRID_TAG: '2026-11-22' }
  assert.equal(imageOf('njs', environment), 'registry.example.com/me/njs:2026-11-22')
})

test('the Role in deploy/kubernetes/bench allows what a run does, and nothing else', () => {
  const path = new URL('../../../../deploy/kubernetes/bench/role.yaml', import.meta.url)
  const { rules = [] } = loadYaml<V1Role>(readFileSync(path, 'utf8'))
  const allowed = rules.flatMap(({ apiGroups = [], resources = [], verbs }) =>
    apiGroups.flatMap((group) => resources.flatMap((one) => verbs.map((verb) => `${verb} ${group}/${one}`))),
  )
  const needed = PERMISSIONS.map(({ verb, resource, group = '' }) => `${verb} ${group}/${resource}`)
  assert.deepEqual(allowed.sort(), needed.toSorted())
})

test('a missing permission is one sentence that names it', () => {
  const missing = [
    { verb: 'create', resource: 'pods' },
    { verb: 'delete', resource: 'pods' },
    { verb: 'get', resource: 'pods/exec' },
  ]
  assert.equal(
    describeMissing(missing, 'shop'),
    '--kubernetes cannot be used here: this account may not create, delete pods; get pods/exec in the namespace shop. ' +
      'kubectl apply -k deploy/kubernetes/bench makes a Role that may.',
  )
})
