import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  type KubernetesObject,
  loadAllYaml,
  loadYaml,
  type V1Container,
  type V1Deployment,
  type V1HorizontalPodAutoscaler,
  type V1NetworkPolicy,
  type V1PodDisruptionBudget,
  type V1PodSpec,
  type V1PodTemplate,
  type V1Service,
  type V1ServiceAccount,
} from '@kubernetes/client-node'
import { APPS, FRAMEWORKS } from '@startgrid/grid/apps.ts'
import { publishedPort, serviceName } from '@startgrid/grid/compose.ts'
import { IMAGE_TAG, podsName } from '@startgrid/grid/kubernetes.ts'

/** deploy/kubernetes: as files, as kustomize renders it, and as a cluster takes it. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const MANIFESTS = `${ROOT}deploy/kubernetes`
const NAMESPACE = `startgrid-test-${process.pid}`

interface Kustomization {
  resources: string[]
  patches: { patch: string }[]
  images: { name: string; newName?: string; newTag: string }[]
}

function readKustomization(directory: string): Kustomization {
  return loadYaml(readFileSync(`${MANIFESTS}/${directory}/kustomization.yaml`, 'utf8'))
}

describe('manifests as files', () => {
  test('every app has an overlay with its image, a tag and its command', () => {
    for (const app of APPS) {
      const { images, patches } = readKustomization(`frameworks/${app.framework}/${app.role}`)
      assert.deepEqual(images, [{ name: 'app', newName: `startgrid/${app.framework}`, newTag: IMAGE_TAG }])
      const [{ value: command } = {}] = loadYaml<{ value: string[] }[]>(patches[0]?.patch ?? '')
      const expected =
        app.runtime === 'nginx'
          ? ['nginx', '-e', 'stderr', '-c', `/etc/nginx/${app.role}.conf`]
          : [app.runtime, 'src/server.ts', app.role]
      assert.deepEqual(command, expected)
    }
  })

  test('the overlays are those of the catalogue and no others, and the grid has all of them', () => {
    const overlays = globSync('frameworks/*/*/kustomization.yaml', { cwd: MANIFESTS })
    assert.deepEqual(overlays.sort(), APPS.map(({ name }) => `frameworks/${name}/kustomization.yaml`).sort())
    const { resources, images } = readKustomization('grid')
    assert.deepEqual(
      resources.filter((one) => one.startsWith('../frameworks/')),
      FRAMEWORKS.map((name) => `../frameworks/${name}`),
    )
    assert.deepEqual(
      images.map(({ name, newTag }) => `${name}:${newTag}`),
      [...FRAMEWORKS, 'nginx', 'loadgen'].map((name) => `startgrid/${name}:${IMAGE_TAG}`),
    )
    assert.doesNotMatch(IMAGE_TAG, /^latest$/)
  })

  test('every app has its port at the NGINX in front', () => {
    const service = loadYaml<V1Service>(readFileSync(`${MANIFESTS}/components/nginx/service.yaml`, 'utf8'))
    const ports = service.spec?.ports?.map(({ port }) => port)
    assert.deepEqual(ports, [8080, ...APPS.map((app) => publishedPort(app, 'nginx'))])
  })

  test('an app has time for all that it does before it ends', () => {
    const base = loadYaml<V1Deployment>(readFileSync(`${MANIFESTS}/base/deployment.yaml`, 'utf8'))
    const pod = base.spec?.template.spec
    const setting = (name: string) => Number(pod?.containers[0]?.env?.find((one) => one.name === name)?.value)
    const graceMs = (pod?.terminationGracePeriodSeconds ?? 0) * 1_000
    assert.ok(graceMs > setting('SHUTDOWN_DELAY_MS') + setting('SHUTDOWN_TIMEOUT_MS'))
    assert.ok(setting('SHUTDOWN_DELAY_MS') > 0)
  })
})

const skip =
  process.env.KUBECONFIG === undefined
    ? 'There is no cluster: KUBECONFIG=~/.kube/config pnpm test asks one for its opinion.'
    : false

describe('manifests as kustomize renders them and a cluster takes them', { skip }, () => {
  const overlay = `${ROOT}.cache/kubernetes-test-${process.pid}`
  let objects: KubernetesObject[] = []

  before(() => {
    mkdirSync(overlay, { recursive: true })
    writeOverlay('resources: [../../deploy/kubernetes/grid]')
    objects = loadAllYaml(kubectl('kustomize', overlay))
  })
  after(() => rmSync(overlay, { recursive: true, force: true }))

  test('every app has its objects, all with its name, and both Services lead to its pods', () => {
    for (const app of APPS) {
      const name = serviceName(app)
      const kinds = objects.filter(({ metadata }) => metadata?.name === name).map(({ kind }) => kind)
      assert.deepEqual(kinds.sort(), [
        'Deployment',
        'NetworkPolicy',
        'PodDisruptionBudget',
        'Service',
        'ServiceAccount',
      ])
      const labels = find<V1Deployment>('Deployment', name).spec?.template.metadata?.labels ?? {}
      const budget = find<V1PodDisruptionBudget>('PodDisruptionBudget', name)
      const policy = find<V1NetworkPolicy>('NetworkPolicy', name)
      for (const selector of [
        find<V1Deployment>('Deployment', name).spec?.selector.matchLabels,
        find<V1Service>('Service', name).spec?.selector,
        find<V1Service>('Service', podsName(app)).spec?.selector,
        budget.spec?.selector?.matchLabels,
        policy.spec?.podSelector?.matchLabels,
      ]) {
        assert.equal(selector?.['app.kubernetes.io/name'], name)
        for (const [label, value] of Object.entries(selector ?? {})) assert.equal(labels[label], value)
      }
      assert.equal(find<V1Service>('Service', podsName(app)).spec?.clusterIP, 'None')
      assert.equal(budget.spec?.maxUnavailable, 1)
      assert.equal(find<V1ServiceAccount>('ServiceAccount', name).automountServiceAccountToken, false)
    }
  })

  test('no pod has more rights than it needs, and every image has a tag', () => {
    const specs = [...deployments().map(({ spec }) => spec?.template.spec), loadgen()]
    assert.equal(specs.length, APPS.length + 2)
    for (const spec of specs) {
      assert.equal(spec?.automountServiceAccountToken, false)
      assert.equal(spec.securityContext?.runAsNonRoot, true)
      assert.equal(spec.securityContext.seccompProfile?.type, 'RuntimeDefault')
      for (const { image, securityContext, resources } of spec.containers) {
        assert.match(image ?? '', /:[^:]+$/)
        assert.doesNotMatch(image ?? '', /:latest$/)
        assert.equal(securityContext?.readOnlyRootFilesystem, true)
        assert.equal(securityContext.allowPrivilegeEscalation, false)
        assert.deepEqual(securityContext.capabilities?.drop, ['ALL'])
        assert.ok(resources?.requests?.cpu && resources.requests.memory && resources.limits?.memory)
      }
    }
  })

  test('every Deployment replaces pods one after the other, and has all probes and its own ServiceAccount', () => {
    for (const { metadata, spec } of deployments()) {
      const pod = spec?.template.spec
      const [container] = pod?.containers ?? []
      assert.equal(spec?.strategy?.rollingUpdate?.maxUnavailable, 0)
      assert.ok(container?.startupProbe && container.readinessProbe && container.livenessProbe)
      assert.equal(pod?.serviceAccountName, metadata?.name)
      const wait = waitOf(container)
      assert.ok(wait > 0, `${metadata?.name} ends before the nodes know`)
      assert.ok(
        (pod?.terminationGracePeriodSeconds ?? 0) >= wait + 20,
        `${metadata?.name} is killed too early`,
      )
      assert.ok(pod?.topologySpreadConstraints?.length)
    }
  })

  test('the server takes everything, strictly validated', () => {
    kubectl('create', 'namespace', NAMESPACE)
    try {
      const output = kubectl('apply', '-k', overlay, '--dry-run=server', '--validate=strict')
      assert.equal(output.trim().split('\n').length, objects.length)
    } finally {
      kubectl('delete', 'namespace', NAMESPACE, '--wait=false')
    }
  })

  test('autoscaling takes the number of pods from the Deployment of its app', () => {
    writeOverlay(
      'resources: [../../deploy/kubernetes/frameworks/koa/ssr]\ncomponents: [../../deploy/kubernetes/components/autoscaling]',
    )
    const scaled: KubernetesObject[] = loadAllYaml(kubectl('kustomize', overlay))
    const deployment = scaled.find(({ kind }) => kind === 'Deployment') as V1Deployment
    const scaler = scaled.find(({ kind }) => kind === 'HorizontalPodAutoscaler') as V1HorizontalPodAutoscaler
    assert.equal(deployment.spec?.replicas, undefined)
    assert.equal(scaler.metadata?.name, 'koa-ssr')
    assert.equal(scaler.spec?.scaleTargetRef.name, 'koa-ssr')
    kubectl('apply', '-k', overlay, '--dry-run=server', '--validate=strict', '--namespace', 'default')
  })

  for (const [component, kinds] of [
    ['ingress', ['Ingress']],
    ['gateway', ['Gateway', 'HTTPRoute', 'HTTPRoute']],
  ] as const) {
    test(`${component} ends TLS with a secret, and leads to the Service of its app`, (t) => {
      writeOverlay(
        `resources: [../../deploy/kubernetes/frameworks/koa/ssr]\ncomponents: [../../deploy/kubernetes/components/${component}]`,
      )
      const text = kubectl('kustomize', overlay)
      const added = loadAllYaml(text).filter(({ kind }: KubernetesObject) =>
        kinds.some((one) => one === kind),
      )
      assert.deepEqual(added.map(({ kind }: KubernetesObject) => kind).sort(), [...kinds].sort())
      assert.match(JSON.stringify(added), /"name":"app-tls"|"secretName":"app-tls"/)
      assert.doesNotMatch(JSON.stringify(added), /"name":"app(?:-redirect)?"/)
      if (!new RegExp(`^${component}(?:s|es)\\.`, 'm').test(kubectl('api-resources', '--output', 'name')))
        return t.skip(`the cluster has no API for ${kinds[0]}`)
      kubectl('apply', '-k', overlay, '--dry-run=server', '--validate=strict', '--namespace', 'default')
    })
  }

  function writeOverlay(text: string): void {
    writeFileSync(
      `${overlay}/kustomization.yaml`,
      `apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n${text.includes('grid') ? `namespace: ${NAMESPACE}\n` : ''}${text}\n`,
    )
  }

  function find<Kind extends KubernetesObject>(kind: string, name: string): Kind {
    const found = objects.find((one) => one.kind === kind && one.metadata?.name === name)
    assert.ok(found, `there is no ${kind} ${name}`)
    return found as Kind
  }

  function deployments(): V1Deployment[] {
    return objects.filter(({ kind }) => kind === 'Deployment')
  }

  function loadgen(): V1PodSpec | undefined {
    return find<V1PodTemplate>('PodTemplate', 'loadgen').template?.spec
  }
})

/** Seconds between the start of the end and the refusal of connections. */
function waitOf(container: V1Container | undefined): number {
  const delay = container?.env?.find(({ name }) => name === 'SHUTDOWN_DELAY_MS')?.value
  return delay === undefined ? (container?.lifecycle?.preStop?.sleep?.seconds ?? 0) : Number(delay) / 1_000
}

const missing =
  skip ||
  (process.env.STARTGRID_TEST === 'full'
    ? false
    : 'It starts the whole grid in a cluster that has its images: pnpm test --full')

describe('the grid in a cluster', { skip: missing }, () => {
  const overlay = `${ROOT}.cache/kubernetes-grid-${process.pid}`

  before(() => {
    mkdirSync(overlay, { recursive: true })
    const text = `kind: Kustomization\nnamespace: ${NAMESPACE}-grid\nresources: [../../deploy/kubernetes/grid]\n`
    writeFileSync(`${overlay}/kustomization.yaml`, text)
    kubectl('apply', '-k', overlay)
    const words = ['wait', '--for=condition=Available', 'deployment', '--all', '--timeout=600s']
    kubectl(...words, '--namespace', `${NAMESPACE}-grid`)
  })
  after(() => {
    spawnSync('kubectl', ['delete', '-k', overlay, '--wait=false'], { cwd: ROOT })
    rmSync(overlay, { recursive: true, force: true })
  })

  test('delete leaves nothing behind', () => {
    kubectl('delete', '-k', overlay, '--timeout=600s')
    assert.equal(kubectl('get', 'namespace', `${NAMESPACE}-grid`, '--ignore-not-found'), '')
  })
})

function kubectl(...args: string[]): string {
  return execFileSync('kubectl', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 1e8 })
}
