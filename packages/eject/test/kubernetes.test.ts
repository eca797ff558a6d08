import { deepEqual, doesNotMatch, equal, ok } from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { APPS, type App } from '@startgrid/grid/apps.ts'
import { parse } from 'yaml'
import { kubernetes } from '../src/options/kubernetes.ts'
import { temporaryDirectory } from './support/directory.ts'

/** The manifests of a project, for every app. */

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

const skip =
  process.env.KUBECONFIG === undefined
    ? 'There is no cluster: KUBECONFIG=~/.kube/config pnpm test asks one for its opinion.'
    : false

/** By the name of the file, as in a project called my-app. */
function render(app: App): Map<string, string> {
  const addition = kubernetes.describe(app, (path) => readFileSync(`${ROOT}${path}`, 'utf8'))
  ok(typeof addition === 'object', `${app.name} cannot have manifests`)
  return new Map(
    Object.entries(addition.files).map(([path, text]) => [
      basename(path, '.yaml'),
      text.replaceAll('{{label}}', 'my-app'),
    ]),
  )
}

for (const app of APPS) {
  test(`${app.name}: six files, in which everything has the name of the project`, () => {
    const files = render(app)
    equal(files.size, 6)
    for (const [name, text] of files) {
      doesNotMatch(text, /startgrid|\{\{|all apps|components\//, name)
      if (name !== 'kustomization') equal(parse(text).metadata.name, 'my-app')
    }
    const { template } = parse(files.get('deployment') ?? '').spec
    equal(template.spec.serviceAccountName, 'my-app')
    const labels = { 'app.kubernetes.io/name': 'my-app' }
    deepEqual(parse(files.get('disruption-budget') ?? '').spec.selector.matchLabels, labels)
    deepEqual(parse(files.get('network-policy') ?? '').spec.podSelector.matchLabels, labels)
    deepEqual(parse(files.get('kustomization') ?? '').labels[0], { includeSelectors: true, pairs: labels })
  })
}

test('an app on Node waits by itself, one inside NGINX with a sleep, and has no settings', () => {
  const containerOf = (name: string) => {
    const app = APPS.find((one) => one.name === name)
    ok(app)
    return parse(render(app).get('deployment') ?? '').spec.template.spec.containers[0]
  }
  const [node, njs] = [containerOf('koa/ssr'), containerOf('njs/ssr')]
  ok(node.env.some(({ name }: { name: string }) => name === 'SHUTDOWN_DELAY_MS'))
  equal(node.lifecycle, undefined)
  equal(njs.env, undefined)
  equal(njs.lifecycle.preStop.sleep.seconds, 5)
})

test('a cluster takes the manifests of every runtime, strictly validated', { skip }, () => {
  for (const name of ['fastify/ssr', 'bun/hello', 'njs/status']) {
    const app = APPS.find((one) => one.name === name)
    ok(app)
    using place = temporaryDirectory()
    const directory = join(place.path, 'kubernetes')
    mkdirSync(directory)
    for (const [file, text] of render(app)) writeFileSync(join(directory, `${file}.yaml`), text)
    const words = [
      'apply',
      '-k',
      directory,
      '--dry-run=server',
      '--validate=strict',
      '--namespace',
      'default',
    ]
    const output = execFileSync('kubectl', words, { encoding: 'utf8' })
    equal(output.trim().split('\n').length, 5)
  }
})
