import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Cluster } from '../src/kubernetes-cluster.ts'
import { KubernetesError } from '../src/kubernetes-error.ts'

const directory = mkdtempSync(join(tmpdir(), 'startgrid-cluster-'))
after(() => rmSync(directory, { recursive: true }))

const LIMIT = { timeout: 120_000 }

/** An API server that forbids everything, in the words of Kubernetes. */
const server = createServer(({ method, url }, response) => {
  response.writeHead(403, { 'content-type': 'application/json' })
  response.end(
    JSON.stringify({
      kind: 'Status',
      apiVersion: 'v1',
      code: 403,
      message: `User "me" cannot ${method} ${url}`,
    }),
  )
})
after(() => server.close())

/** With a kubeconfig for the port. */
function clusterAt(port: number, context?: string): Cluster {
  const path = join(directory, `config-${port}`)
  writeFileSync(
    path,
    JSON.stringify({
      clusters: [
        { name: 'test', cluster: { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true } },
      ],
      users: [{ name: 'me', user: { token: 'none' } }],
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'me' } }],
      'current-context': 'test',
    }),
  )
  process.env.KUBECONFIG = path
  return new Cluster('here', context)
}

test('a missing permission is one sentence with the words of the cluster', LIMIT, async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const cluster = clusterAt((server.address() as AddressInfo).port)
  for (const [ask, said] of [
    [
      () => cluster.deployments(),
      /^The cluster does not let us list Deployments: User "me" cannot GET \S+\.$/,
    ],
    [
      () => cluster.deployment('x'),
      /^The cluster does not let us read Deployments: User "me" cannot GET \S+\/x\.$/,
    ],
    [
      () => cluster.patchDeployment('x', {}),
      /^The cluster does not let us change Deployments: User "me" cannot PATCH \S+\/x\.$/,
    ],
    [() => cluster.pods(), /^The cluster does not let us list pods: User "me" cannot GET \S+\.$/],
    [() => cluster.nodes(), /^The cluster does not let us list nodes: User "me" cannot GET \S+\/nodes\.$/],
    [
      () => cluster.setSchedulable('n', false),
      /^The cluster does not let us change nodes: User "me" cannot PATCH \S+\/n\.$/,
    ],
    [
      () => cluster.evict('x'),
      /^The cluster does not let us evict pods: User "me" cannot POST \S+\/eviction\.$/,
    ],
    [
      () => cluster.removePod('x'),
      /^The cluster does not let us delete pods: User "me" cannot DELETE \S+\.$/,
    ],
    [
      () => cluster.startPod('loadgen'),
      /^The cluster does not let us list pods: User "me" cannot GET \S+\.$/,
    ],
    [() => cluster.run('x', 'app', ['true']), /^We cannot run commands in pods: .*403.*\.$/],
  ] as const)
    await assert.rejects(ask, (error) => {
      assert.ok(error instanceof KubernetesError)
      assert.match(error.message, said)
      return true
    })
})

test(
  'a cluster that does not respond, and a context that is not there, are one sentence',
  LIMIT,
  async () => {
    const unused = createServer()
    await once(unused.listen(0, '127.0.0.1'), 'listening')
    const { port } = unused.address() as AddressInfo
    await new Promise((closed) => unused.close(closed))
    await assert.rejects(clusterAt(port).pods(), /^KubernetesError: We cannot list pods: .*ECONNREFUSED.*\.$/)
    assert.throws(
      () => clusterAt(port, 'other'),
      new KubernetesError("The kubeconfig has no context 'other'."),
    )
  },
)
