import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LoadError } from '../src/engine/load-error.ts'
import { resolveTarget } from '../src/http/target.ts'

test('a load may go to this machine and to private networks', async () => {
  for (const host of ['127.0.0.1', '10.1.2.3', '172.31.0.1', '192.168.178.2', '100.64.0.1', 'fd00::1', '::1'])
    assert.deepEqual(await resolveTarget({ host, port: 80 }), { host, port: 80 })
  assert.match(JSON.stringify(await resolveTarget({ host: 'localhost', port: 80 })), /127\.0\.0\.1|::1/)
})

test('a load may go to no public address, and to no name without one', async () => {
  await assert.rejects(
    resolveTarget({ host: '8.8.8.8', port: 80 }),
    /^LoadError: 8\.8\.8\.8 is a public address: load only servers of this machine or of a private network\.$/,
  )
  for (const host of ['172.32.0.1', '2001:db8::1', '::ffff:192.0.2.1', 'nobody.invalid'])
    await assert.rejects(resolveTarget({ host, port: 80 }), LoadError, host)
})
