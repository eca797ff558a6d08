import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createProgress } from '@startgrid/cli/progress.ts'
import { LoadError } from '@startgrid/loadgen'
import { findNginx } from '@startgrid/nginx/find.ts'
import type { Driver, SliceLoad, SlicePlan } from '../../src/drivers/driver.ts'
import { measureCeiling, withCeiling } from '../../src/environments/ceiling.ts'
import { openNative } from '../../src/environments/native/environment.ts'
import type { Warning } from '../../src/model/warnings.ts'
import { STUDIES } from '../../studies/index.ts'
import { fakeDriver } from '../fixtures/fake-driver.ts'

const nginx = await findNginx({ download: false })
const NOTHING = { name: 'none', systems: {}, races: {}, claims: [] }

/** Asks the server once per load, and tells what it is told to. */
function asking(result: Partial<SliceLoad> | Error, warmupMs = 0) {
  const [durations, responses]: [number[], string[]] = [[], []]
  const run = async ({ target, path, durationMs }: SlicePlan) => {
    if (result instanceof Error) throw result
    durations.push(durationMs)
    if ('port' in target)
      responses.push(await (await fetch(`http://${target.host}:${target.port}${path}`)).text())
    return result
  }
  return { ...fakeDriver(run, { capabilities: { warmupMs } }), durations, responses }
}

test('the ceiling takes no system of a study away', () => {
  for (const { name, systems } of STUDIES) {
    const added = withCeiling({ ...NOTHING, systems }).systems
    assert.deepEqual({ ...added, ...systems }, added, name)
  }
})

describe('the ceiling', { skip: nginx.kind === 'none' && nginx.describe() }, () => {
  async function measure(driver: Driver, signal = new AbortController().signal) {
    const warnings: Warning[] = []
    const options = { driver, connections: 8, signal }
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

  test("is the driver's rate against NGINX itself, after its warm-up", async () => {
    const driver = asking({ rate: 123_456 }, 300)
    assert.deepEqual(await measure(driver), { rate: 123_456, warnings: [] })
    assert.deepEqual(driver.durations, [300, 600])
    assert.deepEqual(driver.responses, ['Hello World!', 'Hello World!'])
  })

  test('needs no warm-up of compiled programs', async () => {
    const driver = asking({ rate: 5 })
    await measure(driver)
    assert.deepEqual(driver.durations, [600])
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
    const dying = asking(new LoadError('The generator process has ended.'), 300)
    assert.deepEqual(await measure(dying, AbortSignal.abort()), { rate: null, warnings: [] })
  })
})
