import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parseAllDocuments } from 'yaml'

/** deploy/kubernetes, as kustomize renders it and as a cluster takes it. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const MANIFESTS = '../../deploy/kubernetes'
const NAME = 'app.kubernetes.io/name'

// biome-ignore lint/suspicious/noExplicitAny: manifests have no types here
type Manifest = any

const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0
const skip = hasKubectl ? false : 'There is no kubectl: install it (https://kubernetes.io/docs/tasks/tools).'
const noCluster = process.env.KUBECONFIG
  ? false
  : 'There is no cluster: KUBECONFIG=~/.kube/config asks one for its opinion.'

describe('manifests', { skip }, () => {
  const overlay = `${ROOT}.cache/kubernetes-test-${process.pid}`
  let example: Manifest[] = []

  before(() => {
    mkdirSync(overlay, { recursive: true })
    example = render('resources: [example]')
  })
  after(() => rmSync(overlay, { recursive: true, force: true }))

  test('each app of the example has all objects under its own name, and its Service leads to its pods', () => {
    for (const name of ['fastify-web', 'koa-web']) {
      const own = example.filter(({ metadata }) => metadata.name === name)
      assert.deepEqual(own.map(({ kind }) => kind).sort(), [
        'Deployment',
        'NetworkPolicy',
        'PodDisruptionBudget',
        'Service',
        'ServiceAccount',
      ])
      const { spec } = find(own, 'Deployment')
      for (const labels of [
        spec.selector.matchLabels,
        spec.template.metadata.labels,
        find(own, 'Service').spec.selector,
        find(own, 'PodDisruptionBudget').spec.selector.matchLabels,
        find(own, 'NetworkPolicy').spec.podSelector.matchLabels,
      ])
        assert.deepEqual(labels, { [NAME]: name })
      assert.equal(spec.template.spec.serviceAccountName, name)
    }
    assert.equal(example.length, 10)
  })

  test('no pod has more rights than it needs, and every image has a tag', () => {
    for (const component of ['nginx', 'njs', undefined]) {
      const { spec } = find(withComponent(component), 'Deployment').spec.template
      judgePod(spec)
    }
    judgePod(find(render('resources: [bench]'), 'Job').spec.template.spec)
  })

  test('an app has time for all that it does before it ends, behind NGINX too', () => {
    for (const component of ['nginx', undefined]) {
      const { spec } = find(withComponent(component), 'Deployment').spec.template
      const app = spec.containers.find(({ name }: Manifest) => name === 'app')
      const setting = (name: string) => Number(app.env.find((one: Manifest) => one.name === name).value)
      const delayMs = setting('SHUTDOWN_DELAY_MS')
      assert.ok(spec.terminationGracePeriodSeconds * 1000 > delayMs + setting('SHUTDOWN_TIMEOUT_MS'))
      const proxy = spec.containers.find(({ name }: Manifest) => name === 'nginx')
      // What NGINX took before it stopped must still reach the app.
      const before = proxy === undefined ? 0 : proxy.lifecycle.preStop.sleep.seconds
      assert.ok(delayMs > before * 1000 && delayMs > 0)
    }
  })

  test('the NGINX of a pod takes what its Service gets', () => {
    const objects = withComponent('nginx')
    const { containers } = find(objects, 'Deployment').spec.template.spec
    const [port] = containers.find(({ name }: Manifest) => name === 'nginx').ports
    assert.equal(find(objects, 'Service').spec.ports[0].targetPort, port.name)
    assert.equal(find(objects, 'NetworkPolicy').spec.ingress[0].ports[0].port, port.name)
  })

  test('autoscaling takes the number of pods from the Deployment of its app', () => {
    const objects = withComponent('autoscaling')
    assert.equal(find(objects, 'Deployment').spec.replicas, undefined)
    const scaler = find(objects, 'HorizontalPodAutoscaler')
    assert.equal(scaler.metadata.name, 'fastify-web')
    assert.equal(scaler.spec.scaleTargetRef.name, 'fastify-web')
  })

  for (const [component, kinds] of [
    ['ingress', ['Ingress']],
    ['gateway', ['Gateway', 'HTTPRoute', 'HTTPRoute']],
  ] as const) {
    test(`${component} ends TLS with a secret, and leads to the Service of its app`, () => {
      const added = withComponent(component).filter(({ kind }) => kinds.some((one) => one === kind))
      assert.deepEqual(added.map(({ kind }) => kind).sort(), [...kinds].sort())
      const text = JSON.stringify(added)
      assert.match(text, /"name":"app-tls"|"secretName":"app-tls"/)
      assert.match(text, /"name":"fastify-web"/)
      assert.doesNotMatch(text, /"name":"app(?:-redirect)?"/)
    })
  }

  for (const component of [undefined, 'autoscaling', 'gateway', 'ingress', 'nginx', 'njs', 'spread'])
    test(`a cluster takes an app with ${component ?? 'no component'}, strictly validated`, {
      skip: noCluster,
    }, (t) => {
      const objects = withComponent(component)
      const known = kubectl('api-resources', '--output', 'name')
      if (component === 'gateway' && !/^gateways\./m.test(known))
        return t.skip('The cluster has no Gateway API: install its definitions.')
      assert.equal(dryRun().length, objects.length)
    })

  test('a cluster takes the Job, strictly validated', { skip: noCluster }, () => {
    render('resources: [bench]')
    assert.equal(dryRun().length, 1)
  })

  function dryRun(): string[] {
    const options = ['--dry-run=server', '--validate=strict', '--namespace', 'default']
    return kubectl('apply', '-k', overlay, ...options)
      .trim()
      .split('\n')
  }

  /** @param text an overlay, in which paths are those below deploy/kubernetes */
  function render(text: string): Manifest[] {
    const paths = text.replaceAll(/(?<=: \[)[\w/]+(?=\])/g, `${MANIFESTS}/$&`)
    writeFileSync(`${overlay}/kustomization.yaml`, `kind: Kustomization\n${paths}\n`)
    return parseAllDocuments(kubectl('kustomize', overlay)).map((document) => document.toJS())
  }

  function withComponent(component: string | undefined): Manifest[] {
    const line = component === undefined ? '' : `components: [components/${component}]`
    return render(`resources: [example/fastify]\n${line}`)
  }
})

function find(objects: readonly Manifest[], kind: string): Manifest {
  const found = objects.find((one) => one.kind === kind)
  assert.ok(found, `there is no ${kind}`)
  return found
}

function judgePod(spec: Manifest): void {
  assert.equal(spec.automountServiceAccountToken, false)
  assert.equal(spec.securityContext.runAsNonRoot, true)
  assert.equal(spec.securityContext.seccompProfile.type, 'RuntimeDefault')
  for (const { image, securityContext, resources } of spec.containers) {
    assert.match(image, /:[^:]+$/)
    assert.doesNotMatch(image, /:latest$/)
    assert.equal(securityContext.readOnlyRootFilesystem, true)
    assert.equal(securityContext.allowPrivilegeEscalation, false)
    assert.deepEqual(securityContext.capabilities.drop, ['ALL'])
    assert.ok(resources.requests.cpu && resources.requests.memory && resources.limits.memory)
  }
}

function kubectl(...args: string[]): string {
  return execFileSync('kubectl', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 1e8 })
}
