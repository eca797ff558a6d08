import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import { describe, test } from 'node:test'
import { LoadError } from '../src/engine/load-error.ts'
import { resolveTarget } from '../src/http/target.ts'
import { addressElsewhere } from './elsewhere.ts'

const ELSEWHERE = { host: addressElsewhere(), port: 80 }

/** An address beside our own, in the network of one of our interfaces. */
function neighbour(): string | undefined {
  const [own] = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ family, internal, cidr }) => family === 'IPv4' && !internal && cidr && !/\/3[0-2]$/.test(cidr))
  if (own === undefined) return undefined
  const bytes = own.address.split('.').map(Number)
  // Any other last bit is in the same network.
  return [...bytes.slice(0, 3), (bytes[3] ?? 0) ^ 1].join('.')
}

describe('the reach of a load', () => {
  test('is this machine, unless said otherwise', async () => {
    await assert.rejects(
      resolveTarget(ELSEWHERE),
      /^LoadError: [\d.]+ is not on this machine: load only servers that run on this machine\.$/,
    )
    for (const host of ['2001:db8::1', 'nobody.invalid', '::ffff:192.0.2.1'])
      await assert.rejects(resolveTarget({ host, port: 80 }), LoadError, host)
    assert.match(JSON.stringify(await resolveTarget({ host: 'localhost', port: 80 })), /127\.0\.0\.1|::1/)
    const here = { host: '127.0.0.1', port: 80 }
    for (const reach of ['machine', 'network', 'anywhere'] as const)
      assert.deepEqual(await resolveTarget(here, reach), here)
  })

  test('may be the networks that this machine is in, and no others', async (context) => {
    await assert.rejects(
      resolveTarget(ELSEWHERE, 'network'),
      /^LoadError: [\d.]+ is not on a network of this machine: load only servers that run on a network of this machine\.$/,
    )
    const host = neighbour()
    if (host === undefined) return context.skip('this machine is in no network')
    await assert.rejects(resolveTarget({ host, port: 80 }), /is not on this machine/)
    assert.deepEqual(await resolveTarget({ host, port: 80 }, 'network'), { host, port: 80 })
  })

  test('may be anywhere', async () => {
    assert.deepEqual(await resolveTarget(ELSEWHERE, 'anywhere'), ELSEWHERE)
  })
})
