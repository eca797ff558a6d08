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

  test('on OpenShift no pod asks for a user, and it must not be root', () => {
    for (const component of ['nginx', 'njs', undefined]) {
      const { spec } = find(withComponent(component, 'openshift'), 'Deployment').spec.template
      judgePod(spec)
      for (const { securityContext } of [spec, ...spec.containers])
        assert.deepEqual([securityContext.runAsUser, securityContext.runAsGroup], [undefined, undefined])
    }
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

  for (const component of [undefined, 'autoscaling', 'gateway', 'ingress', 'nginx', 'njs', 'openshift'])
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
    const paths = text.replaceAll(/(?<=[[,])[\w/]+/g, `${MANIFESTS}/$&`)
    writeFileSync(`${overlay}/kustomization.yaml`, `kind: Kustomization\n${paths}\n`)
    return parseAllDocuments(kubectl('kustomize', overlay)).map((document) => document.toJS())
  }

  function withComponent(...components: (string | undefined)[]): Manifest[] {
    const lines = components.filter((one) => one !== undefined).map((one) => `components/${one}`)
    return render(`resources: [example/fastify]\ncomponents: [${lines}]`)
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

const NAMESPACE = `startgrid-test-${process.pid}`
const LIMIT = { timeout: 900_000 }

describe('full: the example in a cluster whose nodes have the images', {
  skip: skip || noCluster,
  ...LIMIT,
}, () => {
  const place = `${ROOT}.cache/kubernetes-${process.pid}`

  before(() => {
    kubectlIn('create', 'namespace', NAMESPACE)
    kubectlIn('label', 'namespace', NAMESPACE, 'pod-security.kubernetes.io/enforce=restricted')
    // OpenShift would choose such a user.
    const user = { op: 'add', path: '/spec/template/spec/securityContext/runAsUser', value: 1_000_650_000 }
    const patch = { target: { kind: 'Deployment' }, patch: JSON.stringify([user]) }
    for (const [name, parts] of [
      ['fastify', ['nginx', 'openshift']],
      ['koa', ['openshift']],
    ] as const) {
      const paths = parts.map((part) => `../../../deploy/kubernetes/components/${part}`)
      const components = `components: [${paths}]\npatches: ${JSON.stringify([patch])}`
      write(name, `resources: [../../../deploy/kubernetes/example/${name}]\n${components}`)
    }
    for (const name of ['fastify', 'koa']) kubectlIn('apply', '-k', `${place}/${name}`)
    kubectlIn('wait', '--for=condition=Available', 'deployment', '--all', '--timeout=600s')
  }, LIMIT)
  after(() => {
    kubectlIn('delete', 'namespace', NAMESPACE, '--timeout=300s')
    rmSync(place, { recursive: true, force: true })
  }, LIMIT)

  test('the suite against one app', LIMIT, () => {
    const program = 'packages/conformance/src/cli.ts'
    startJob('conformance', ['hello', 'http://koa-web:3000'], program)
    finish('conformance')
  })

  test('a race of two Services', LIMIT, () => {
    const urls = ['http://fastify-web:3000/', 'http://koa-web:3000/']
    startJob('race', ['race', ...urls, '--heats', '2', '--max-time', '5m'])
    assert.match(finish('race'), /fastify-web/)
  })

  test('a rolling update under load loses no request, behind NGINX and without', LIMIT, () => {
    const load = (url: string) => [url, '--rate', '50', '--duration', '90s', '--connections', '4']
    for (const name of ['fastify', 'koa'])
      startJob(`load-${name}`, load(`http://${name}-web:3000/`), 'packages/loadgen/src/cli.ts')
    kubectlIn('wait', '--for=jsonpath={.status.ready}=1', 'job/load-fastify', 'job/load-koa', '--timeout=60s')
    kubectlIn('rollout', 'restart', 'deployment')
    for (const name of ['fastify', 'koa'])
      kubectlIn('rollout', 'status', `deployment/${name}-web`, '--timeout=600s')
    for (const name of ['fastify', 'koa']) finish(`load-${name}`)
  })

  function startJob(name: string, args: readonly string[], program = 'bench/src/cli/main.ts'): void {
    const container = '/spec/template/spec/containers/0'
    const patch = [
      { op: 'replace', path: '/metadata/name', value: name },
      { op: 'add', path: `${container}/command`, value: ['node', program] },
      { op: 'replace', path: `${container}/args`, value: args },
    ]
    const job = { target: { kind: 'Job' }, options: { allowNameChange: true }, patch: JSON.stringify(patch) }
    write(name, `resources: [../../../deploy/kubernetes/bench]\npatches: ${JSON.stringify([job])}`)
    kubectlIn('create', '-k', `${place}/${name}`)
  }

  /** @returns what it said, once it has ended with 0 */
  function finish(name: string): string {
    for (let second = 0; second < 600; second += 1) {
      const { status } = JSON.parse(kubectlIn('get', `job/${name}`, '--output', 'json'))
      const said = () => kubectlIn('logs', `job/${name}`)
      if (status.succeeded === 1) return said()
      assert.ok(!status.failed, status.failed && said())
      execFileSync('sleep', ['1'])
    }
    throw new Error(`The Job ${name} has not ended after 600 s.`)
  }

  function write(name: string, text: string): void {
    mkdirSync(`${place}/${name}`, { recursive: true })
    writeFileSync(`${place}/${name}/kustomization.yaml`, `kind: Kustomization\n${text}\n`)
  }
})

function kubectlIn(...args: string[]): string {
  return kubectl('--namespace', NAMESPACE, ...args)
}

function kubectl(...args: string[]): string {
  return execFileSync('kubectl', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 1e8 })
}
