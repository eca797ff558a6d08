import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '@startgrid/stats/random.ts'
import { type BodyExpectation, Checker, exactly } from '../src/expectation.ts'
import { LoadError, type LoadPlan, Requests, resolveTarget } from '../src/plan.ts'

const OPTIONS = { target: { host: 'h', port: 80 }, path: '/' }

function text(options: Partial<LoadPlan>): string {
  return new Requests({ ...OPTIONS, ...options }, createRandom(1)).bytes(0).toString()
}

/** Within five standard deviations of a binomial count. */
function assertUniform(values: readonly unknown[], kinds: readonly unknown[]): void {
  const counts = Map.groupBy(values, (value) => value)
  assert.deepEqual(new Set(counts.keys()), new Set(kinds))
  const expected = values.length / kinds.length
  for (const [value, { length }] of counts)
    assert.ok(
      Math.abs(length - expected) < 5 * Math.sqrt(expected),
      `${value}: ${length} of ${values.length}`,
    )
}

test('a fixed request is the same buffer each time, and can ask for a close, once', () => {
  const requests = new Requests(OPTIONS, createRandom(1))
  assert.equal(requests.bytes(0), requests.bytes(0))
  const closing = 'GET / HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n'
  for (const headers of [{}, { connection: 'close' }])
    assert.equal(text({ newConnections: true, headers }), closing)
})

test('paths of a list are drawn alike, and the seed decides', () => {
  const drawn = (path: readonly string[], seed = 2) => {
    const requests = new Requests({ ...OPTIONS, path }, createRandom(seed))
    return Array.from({ length: 5_000 }, () => String(requests.bytes(requests.draw())).split(' ')[1])
  }
  assertUniform(drawn(['/a', '/b', '/c']), ['/a', '/b', '/c'])
  const path = ['/a', '/b']
  assert.deepEqual(drawn(path, 1), drawn(path, 1))
  assert.notDeepEqual(drawn(path, 1), drawn(path, 2))
})

test('what cannot be sent is refused with a sentence', () => {
  for (const path of [['/', 'x'], '/ HTTP/1.1\r\nx: y', '/é'])
    assert.throws(() => text({ path }), /^LoadError: .*\.$/, String(path))
  for (const headers of [{ 'a b': 'c' }, { a: 'b\r\nc: d' }])
    assert.throws(() => text({ headers }), /^LoadError: .*\.$/, JSON.stringify(headers))
})

test('each part of an expectation, alone and together; a length also where the content is not compared', () => {
  const verdict = (body: BodyExpectation, received: string, isSampled = true) => {
    const bytes = Buffer.from(received)
    const response = { status: 200, bodyLength: bytes.length }
    return new Checker({ body }, 1).verdict(response, isSampled ? bytes : undefined, 0)
  }
  const all = { ...exactly('naïve'), length: 6, includes: ['n'] }
  for (const part of [exactly('naïve'), { length: 6 }, { includes: ['aï', 've'] }, all, {}])
    assert.equal(verdict(part, 'naïve'), undefined, JSON.stringify(part))
  for (const received of ['naive!', 'naïv', ''])
    for (const part of [exactly('naïve'), { includes: ['aï', 've'] }])
      assert.equal(verdict(part, received), 'body')
  for (const isSampled of [true, false]) assert.equal(verdict({ length: 5 }, 'naïve', isSampled), 'body')
})

test('the first response is sampled, then one in n on average, at uneven distances', () => {
  const checker = new Checker({ body: { includes: [] }, checkEvery: 10 }, 1)
  const sampled = Array.from({ length: 100_000 }, () => checker.sample())
  assert.equal(sampled[0], true)
  const places = sampled.flatMap((is, place) => (is ? [place] : []))
  const distances = places.slice(1).map((place, n) => place - (places[n] ?? 0))
  assert.deepEqual([Math.min(...distances), Math.max(...distances)], [1, 19])
  // 10,000 samples expected; the standard deviation is about 55.
  assert.ok(Math.abs(places.length - 10_000) < 400, `${places.length}`)
  const drawn = (seed: number) => {
    const seeded = new Checker({ body: exactly('a') }, 1, createRandom(seed))
    return Array.from({ length: 1000 }, () => Number(seeded.sample())).join('')
  }
  assert.equal(drawn(1), drawn(1), 'a seed repeats it')
  assert.notEqual(drawn(1), drawn(2))
  assert.equal(new Checker({}, 1).sample(), false, 'without a body to expect')
})

test('a load may go to this machine and to private networks, but to no public address and no name without one', async () => {
  for (const host of ['127.0.0.1', '10.1.2.3', '172.31.0.1', '192.168.178.2', '100.64.0.1', 'fd00::1', '::1'])
    assert.deepEqual(await resolveTarget({ host, port: 80 }), { host, port: 80, address: host })
  assert.match(JSON.stringify(await resolveTarget({ host: 'localhost', port: 80 })), /127\.0\.0\.1|::1/)
  await assert.rejects(
    resolveTarget({ host: '8.8.8.8', port: 80 }),
    /^LoadError: 8\.8\.8\.8 is a public address: load only servers of this machine or of a private network\.$/,
  )
  for (const host of ['172.32.0.1', '2001:db8::1', '::ffff:192.0.2.1', 'nobody.invalid'])
    await assert.rejects(resolveTarget({ host, port: 80 }), LoadError, host)
})
