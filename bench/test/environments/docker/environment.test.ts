import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isOlder } from '../../../src/environments/docker/compose.ts'
import { generatorIn } from '../../../src/environments/docker/generator.ts'
import { variableOf } from '../../../src/environments/docker/images.ts'
import { readProof } from '../../../src/environments/suite-elsewhere.ts'

test('Compose must know start_interval', () => {
  assert.deepEqual(['2.26.1-4', 'v2.30.0', '2.20.0', '3.0.0', '5.0.1'].filter(isOlder), [])
  assert.deepEqual(['2.19.1', '1.29.2', 'v2.2.3'].filter(isOlder), ['2.19.1', '1.29.2', 'v2.2.3'])
})

test('versions are what an image says of itself', () => {
  const image = { Id: 'sha256:1', Config: { Env: ['PATH=/bin', 'NODE_VERSION=26.10.0'] } }
  assert.equal(variableOf(image, 'NODE_VERSION'), '26.10.0')
  assert.equal(variableOf(image, 'NODE'), undefined)
  assert.equal(variableOf({ Id: 'sha256:1', Config: { Env: null } }, 'NODE_VERSION'), undefined)
})

describe('the generator', () => {
  const run = { name: 'net', generator: 'gen', labels: { a: 'b' }, directory: '/x/' }

  test('is a container in the network of the servers, which it may not leave', () => {
    const { command = [], reach } = generatorIn(run, undefined)
    assert.equal(reach, 'network')
    assert.match(command.join(' '), /--name gen --network net --label a=b /)
    assert.doesNotMatch(command.join(' '), /cpuset/)
    assert.equal(command.at(-1), 'startgrid/loadgen')
  })

  test('has a core of its own', () => {
    assert.match(generatorIn(run, 1).command?.join(' ') ?? '', / --cpuset-cpus 1 startgrid\/loadgen$/)
  })
})

describe('a proof', () => {
  test('is the report that the suite printed', () => {
    const difference = { check: 'GET /', expected: '200', received: '404' }
    const report = { passed: ['a', 'b'], failed: ['GET /'], differences: [difference] }
    assert.deepEqual(readProof(JSON.stringify(report), ''), {
      checked: 3,
      differences: ['GET /: expected 200, got 404'],
    })
  })

  test('is what it complained of, if there is no report', () => {
    assert.deepEqual(readProof('', 'warning\nNobody responds at http://node-hello:3000.\n'), {
      checked: 0,
      differences: ['the suite did not run: Nobody responds at http://node-hello:3000'],
    })
  })
})
