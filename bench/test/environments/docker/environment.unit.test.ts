import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { proveStarted, readProof } from '../../../src/environments/conformance.ts'
import { isOlder } from '../../../src/environments/docker/command.ts'
import { variableOf } from '../../../src/environments/docker/images.ts'
import { generatorIn } from '../../../src/environments/docker/run.ts'
import type { Server, Servers } from '../../../src/environments/environment.ts'
import { newCell } from '../../../src/experiment/cells.ts'

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

describe('servers that are proven', () => {
  const cells = ['well', 'broken', 'missing'].map((id) =>
    newCell({ id, race: 'hello', app: id, role: 'hello' }),
  )
  const systems = Object.fromEntries(cells.map(({ id }) => [id, { title: id }]))
  const options = {
    experiment: { name: '', systems, races: {}, claims: [] },
    signal: new AbortController().signal,
  }
  let stopped = 0
  const serverAt = (port: number) => ({ target: { host: '127.0.0.1', port } }) as unknown as Server
  const servers: Servers = {
    running: new Map([
      ['well', serverAt(1)],
      ['broken', serverAt(2)],
    ]),
    failures: new Map([['missing', 'the app did not start']]),
    launches: async () => [],
    stop: async () => {
      stopped++
      return []
    },
  }
  const prove = async ({ target }: Pick<Server, 'target'>) => {
    if ('port' in target && target.port === 2) throw new Error('The suite broke.')
    return { checked: 7, differences: [] }
  }
  const differencesOf = async (start: () => Promise<Servers>) => {
    const environment = { start, prove, ingredients: () => null }
    const proofs = await proveStarted(cells, { ...options, environment })
    return [...proofs].map(([{ id }, { checked, differences }]) => [id, checked, ...differences])
  }

  test('are stopped, also if the suite breaks on one of them', async () => {
    assert.deepEqual((await differencesOf(async () => servers)).toSorted(), [
      ['broken', 0, 'The suite broke'],
      ['missing', 0, 'the app did not start'],
      ['well', 7],
    ])
    assert.equal(stopped, 1)
  })

  test('that do not start have one reason for all', async () => {
    const reason = 'the servers did not start: NGINX does not start: it is ill'
    assert.deepEqual(
      (await differencesOf(() => Promise.reject(new Error('NGINX does not start: it is ill.')))).toSorted(),
      [
        ['broken', 0, reason],
        ['missing', 0, reason],
        ['well', 0, reason],
      ],
    )
  })
})
