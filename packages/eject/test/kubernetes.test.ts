import { deepEqual, doesNotMatch, equal, ok } from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { APPS, type App } from '@startgrid/grid/apps.ts'
import { parse } from 'yaml'
import { kubernetes } from '../src/options/kubernetes.ts'

/** The manifests of a project, for every app. scripts/test/kubernetes.test.ts has the opinion of kubectl on the files that they are copies of. */

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** By path below kubernetes/, as in a project called my-app. */
function render(app: App): Map<string, string> {
  const addition = kubernetes.describe(app, (path) => readFileSync(`${ROOT}${path}`, 'utf8'))
  ok(typeof addition === 'object', `${app.name} cannot have manifests`)
  return new Map(
    Object.entries(addition.files).map(([path, text]) => [
      path.replace('kubernetes/', ''),
      text.replaceAll('{{label}}', 'my-app'),
    ]),
  )
}

test('six files, in which everything has the name of the project', () => {
  for (const app of APPS.filter(({ runtime }) => runtime !== 'nginx')) {
    const files = render(app)
    equal(files.size, 6, app.name)
    deepEqual(parse(files.get('kustomization.yaml') ?? '').resources, [
      ...[...files.keys()].filter((name) => name !== 'kustomization.yaml'),
    ])
    for (const [name, text] of files) {
      doesNotMatch(text, /startgrid|\{\{|\bweb\b/, name)
      if (name !== 'kustomization.yaml') equal(parse(text).metadata.name, 'my-app')
    }
    const { selector, template } = parse(files.get('deployment.yaml') ?? '').spec
    equal(template.spec.serviceAccountName, 'my-app')
    equal(template.spec.containers[0].image, 'registry.example.com/my-app:v1')
    const labels = { 'app.kubernetes.io/name': 'my-app' }
    deepEqual(selector.matchLabels, labels)
    deepEqual(template.metadata.labels, labels)
    deepEqual(parse(files.get('service.yaml') ?? '').spec.selector, labels)
    deepEqual(parse(files.get('disruption-budget.yaml') ?? '').spec.selector.matchLabels, labels)
    deepEqual(parse(files.get('network-policy.yaml') ?? '').spec.podSelector.matchLabels, labels)
  }
})

test('an app inside NGINX has a patch: it has no settings, waits with a sleep, and writes to its own directory', () => {
  const app = APPS.find(({ runtime }) => runtime === 'nginx')
  ok(app)
  const files = render(app)
  deepEqual(parse(files.get('kustomization.yaml') ?? '').components, ['njs'])
  const { patches } = parse(files.get('njs/kustomization.yaml') ?? '')
  const { containers } = parse(patches[0].patch).spec.template.spec
  equal(containers[0].env, null)
  equal(containers[0].lifecycle.preStop.sleep.seconds, 5)
  equal(containers[0].volumeMounts[0].mountPath, '/app/run')
})
