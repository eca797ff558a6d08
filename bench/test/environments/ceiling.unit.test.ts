import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createProgress } from '@startgrid/cli/progress.ts'
import { LoadError } from '@startgrid/loadgen'
import { findNginx } from '@startgrid/nginx/find.ts'
import { measureCeiling, withCeiling } from '../../src/environments/ceiling.ts'
import { openNative } from '../../src/environments/native/environment.ts'
import type { LastingGenerator, SliceLoad, SlicePlan } from '../../src/load/generator.ts'
import type { Warning } from '../../src/model/warnings.ts'
import { STUDIES } from '../../studies/index.ts'
import { fakeGenerator } from '../fixtures/fake-generator.ts'

const nginx = await findNginx({ download: false })
const NOTHING = { name: 'none', systems: {}, races: {}, claims: [] }

/** Asks the server once per load, and tells what it is told to. */
function asking(result: Partial<SliceLoad> | Error) {
  const [durations, responses]: [number[], string[]] = [[], []]
  const run = async ({ target, path, durationMs }: SlicePlan) => {
    if (result instanceof Error) throw result
    durations.push(durationMs)
    if ('port' in target)
      responses.push(await (await fetch(`http://${target.host}:${target.port}${path}`)).text())
    return result
  }
  return { generator: fakeGenerator(run), durations, responses }
}

test('the ceiling takes no system of a study away', () => {
  for (const { name, systems } of STUDIES) {
    const added = withCeiling({ ...NOTHING, systems }).systems
    assert.deepEqual({ ...added, ...systems }, added, name)
  }
})

describe('the ceiling', { skip: nginx.kind === 'none' && nginx.describe() }, () => {
  async function measure(
    { generator }: { generator: LastingGenerator },
    signal = new AbortController().signal,
  ) {
    const warnings: Warning[] = []
    const options = { generator, connections: 8, signal }
    const quiet = {
      progress: createProgress(),
      warn() {},
      signal: new AbortController().signal,
      download: false,
    }
    const environment = await openNative(withCeiling(NOTHING), [], quiet)
    const rate = await measureCeiling(environment, options, (warning) => warnings.push(warning))
    return { rate, warnings }
  }

  test("is the generator's rate against NGINX itself, after its warm-up", async () => {
    const asked = asking({ rate: 123_456 })
    assert.deepEqual(await measure(asked), { rate: 123_456, warnings: [] })
    assert.deepEqual(asked.durations, [1000, 600])
    assert.deepEqual(asked.responses, ['Hello World!', 'Hello World!'])
  })

  test('is unknown after errors, which the warning tells', async () => {
    const { rate, warnings } = await measure(asking({ rate: 5, errors: { reset: 2, timeout: 1 } }))
    assert.equal(rate, null)
    assert.deepEqual(warnings, [{ kind: 'ceiling-unknown', reason: '3 requests failed' }])
  })

  test('is unknown if no load can be offered', async () => {
    const { rate, warnings } = await measure(asking(new LoadError('wrk failed: it is ill.')))
    assert.equal(rate, null)
    assert.deepEqual(warnings, [{ kind: 'ceiling-unknown', reason: 'wrk failed: it is ill' }])
  })

  test('is unknown after an interruption, without a word', async () => {
    const { rate, warnings } = await measure(asking({ errors: { reset: 2 } }), AbortSignal.abort())
    assert.deepEqual([rate, warnings], [null, []])
    const dying = asking(new LoadError('The generator process has ended.'))
    assert.deepEqual(await measure(dying, AbortSignal.abort()), { rate: null, warnings: [] })
  })
})
