import { deepEqual, equal, notEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { findNginx } from '@startgrid/nginx/find.ts'
import { APPS } from '../src/apps.ts'
import { startLineup } from '../src/lineup.ts'

test('without a module of TLS there is no nginx-tls, and the other topologies are there', async () => {
  const found = await findNginx()
  if (found.kind === 'none') return
  const app = APPS.find(({ name }) => name === 'node/hello') ?? APPS[0]
  const nginx = { ...found, http2: undefined }
  const topologies = ['nginx', 'nginx-tls'] as const
  const lineup = await startLineup({ apps: app === undefined ? [] : [app], topologies, nginx })
  try {
    deepEqual([...lineup.failures], [['nginx-tls', 'this NGINX was built without TLS or HTTP/2']])
    notEqual(app && lineup.target(app, 'nginx'), undefined)
    equal(app && lineup.target(app, 'nginx-tls'), undefined)
  } finally {
    await lineup.stop()
  }
})
