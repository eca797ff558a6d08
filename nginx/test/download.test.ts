import assert from 'node:assert/strict'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { isDebianLike } from '../src/find/download.ts'
import { findNginx } from '../src/find/find.ts'
import { startNginx } from '../src/run/instance.ts'
import { request } from './support/raw.ts'

const skip = (await isDebianLike()) ? false : 'not a Debian-like system: there is nothing to unpack'

test("full: download: the distribution's packages, unpacked and not installed", {
  skip,
  timeout: 600_000,
}, async (context) => {
  const cache = await mkdtemp(join(tmpdir(), 'startgrid-cache-'))
  const env = { XDG_CACHE_HOME: cache }
  const before = await stat('/var/lib/dpkg/status')
  try {
    const found = await findNginx({ choice: 'download', env })
    if (found.kind === 'none') return context.skip(`${found.describe()} (a Debian mirror is needed once)`)
    assert.equal(found.kind, 'download')
    assert.ok(found.binary.path.startsWith(cache))
    assert.ok(found.njs?.module?.startsWith(cache))
    assert.match(found.describe(), /unpacked from the system's packages; njs /)
    assert.equal((await stat('/var/lib/dpkg/status')).mtimeMs, before.mtimeMs)

    const listen = { host: '127.0.0.1', port: 0 }
    const upstream = { host: '127.0.0.1', port: 9 }
    const instance = await startNginx(found, {
      fronts: [{ name: 'a', topology: 'nginx', listen, upstream }],
    })
    assert.equal((await request(instance.addresses[0] ?? listen, '/ceiling')).body.toString(), 'Hello World!')
    await instance.stop()

    // What is there already needs no download.
    assert.equal((await findNginx({ choice: 'download', download: false, env })).kind, 'download')
  } finally {
    await rm(cache, { recursive: true, force: true })
  }
})
