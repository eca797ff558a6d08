import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { IMAGE_TAG } from '@startgrid/grid/kubernetes.ts'
import { Cluster } from '@startgrid/grid/kubernetes-cluster.ts'
import { LIGHT } from '../src/clients/clients.ts'
import { ClusterSubject } from '../src/cluster/cluster-subject.ts'
import { startLoad } from '../src/cluster/load.ts'

/**
 * `pnpm eject --with kubernetes`, in a cluster that has the image startgrid/loadgen. The app has no pages: a busy one may refuse these with 503,
 * and here every request must succeed.
 */

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

const { KUBECONFIG, STARTGRID_LOAD_IMAGE: LOAD } = process.env

function skip(): string | false {
  if (KUBECONFIG === undefined)
    return 'There is no cluster: KUBECONFIG=~/.kube/config pnpm test tries it in one.'
  if (LOAD === undefined)
    return "Its image cannot come to the nodes: STARTGRID_LOAD_IMAGE='kind load docker-image' pnpm test says how."
  return false
}

function run(program: string, ...args: string[]): string {
  return execFileSync(program, args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

/** A kustomization beside the project: its image in this cluster, and the clients. */
function writeOverlay(directory: string, namespace: string, tag: string): void {
  mkdirSync(directory)
  copyFileSync(`${ROOT}deploy/kubernetes/grid/loadgen.yaml`, join(directory, 'loadgen.yaml'))
  const images = [
    { name: 'registry.example.com/my-app', newName: 'startgrid/ejected', newTag: tag },
    { name: 'startgrid/loadgen', newTag: IMAGE_TAG },
  ]
  const kustomization = {
    kind: 'Kustomization',
    namespace,
    resources: ['../my-app/kubernetes', 'loadgen.yaml'],
    images,
  }
  writeFileSync(join(directory, 'kustomization.yaml'), JSON.stringify(kustomization))
}

test('an ejected app loses no request during a rolling update', {
  skip: skip(),
  timeout: 1_200_000,
}, async (context) => {
  const place = mkdtempSync(join(tmpdir(), 'startgrid-ejected-'))
  context.after(() => rmSync(place, { recursive: true, force: true }))
  const tag = `test-${process.pid}`
  const namespace = `startgrid-ejected-${process.pid}`

  const project = join(place, 'my-app')
  run(
    process.execPath,
    'packages/eject/src/cli.ts',
    'fastify/hello',
    project,
    '--with',
    'kubernetes',
    '--no-git',
  )
  run('docker', 'build', '--quiet', '--tag', `startgrid/ejected:${tag}`, project)
  context.after(() => run('docker', 'image', 'rm', '--force', `startgrid/ejected:${tag}`))
  const [loader = '', ...words] = (LOAD ?? '').split(' ')
  run(loader, ...words, `startgrid/ejected:${tag}`)

  writeOverlay(join(place, 'overlay'), namespace, tag)
  run('kubectl', 'create', 'namespace', namespace)
  context.after(() => run('kubectl', 'delete', 'namespace', namespace, '--wait=false'))
  run('kubectl', 'apply', '--kustomize', join(place, 'overlay'))
  run('kubectl', '--namespace', namespace, 'rollout', 'status', 'deployment/my-app', '--timeout=300s')

  const cluster = new Cluster(namespace)
  const pod = await cluster.startPod('loadgen')
  context.after(() => cluster.removePod(pod))
  const clients = { kept: 5, fresh: 5, pauseMs: 50, timeoutMs: 30_000 }
  const load = await startLoad(cluster, pod, [{ host: 'my-app', port: 3000, path: LIGHT.hello, ...clients }])
  await new ClusterSubject(cluster).restart('my-app')
  const [tally] = await load.stop()
  context.diagnostic(`${tally?.responded} requests got a response during the rolling update.`)
  assert.ok(tally !== undefined && tally.responded > 0)
  assert.deepEqual([tally.failures, tally.crossed, tally.shed], [[], 0, 0])
})
