import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createProgress } from '@startgrid/cli/progress.ts'
import { LoadError } from '@startgrid/loadgen'
import { findNginx } from '@startgrid/nginx/find.ts'
import type { Driver, SliceLoad, SlicePlan } from '../../src/drivers/driver.ts'
import { measureCeiling, withCeiling } from '../../src/environments/ceiling.ts'
import { openNative } from '../../src/environments/native/environment.ts'
import type { Warning } from '../../src/model/warnings.ts'

const nginx = await findNginx({ download: false })
const NOTHING = { name: 'none', systems: {}, races: {}, claims: [] }

/** Asks the server once per load, and tells what it is told to. */
class FakeDriver implements Driver {
  readonly name = 'wrk'
  readonly version = '0'
  readonly capabilities
  readonly durations: number[] = []
  readonly responses: string[] = []
  readonly #result: Partial<SliceLoad> | Error

  constructor(result: Partial<SliceLoad> | Error, warmupMs = 0) {
    this.#result = result
    this.capabilities = {
      openLoop: false,
      unixSockets: false,
      checks: 'before',
      minSliceMs: 1,
      warmupMs,
    } as const
  }

  pids(): number[] {
    return []
  }

  async check(): Promise<{ checked: number; errors: object }> {
    return { checked: 0, errors: {} }
  }

  async responseLength(): Promise<number> {
    return 0
  }

  async run({ target, path, durationMs }: SlicePlan): Promise<SliceLoad> {
    if (this.#result instanceof Error) throw this.#result
    this.durations.push(durationMs)
    if ('port' in target)
      this.responses.push(await (await fetch(`http://${target.host}:${target.port}${path}`)).text())
    const nothing = { requests: 0, seconds: 1, rate: 0, checked: 0, errors: {} }
    const latencySeconds = { mean: 0, p50: 0, p99: 0 }
    return { ...nothing, latencySeconds, generator: { cpuSeconds: null, waitSeconds: null }, ...this.#result }
  }

  async stop(): Promise<void> {}
}

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
    const driver = new FakeDriver({ rate: 123_456 }, 300)
    assert.deepEqual(await measure(driver), { rate: 123_456, warnings: [] })
    assert.deepEqual(driver.durations, [300, 600])
    assert.deepEqual(driver.responses, ['Hello World!', 'Hello World!'])
  })

  test('needs no warm-up of compiled programs', async () => {
    const driver = new FakeDriver({ rate: 5 })
    await measure(driver)
    assert.deepEqual(driver.durations, [600])
  })

  test('is unknown after errors, which the warning tells', async () => {
    const { rate, warnings } = await measure(new FakeDriver({ rate: 5, errors: { reset: 2, timeout: 1 } }))
    assert.equal(rate, null)
    assert.deepEqual(warnings, [{ kind: 'ceiling-unknown', reason: '3 requests failed' }])
  })

  test('is unknown if no load can be offered', async () => {
    const { rate, warnings } = await measure(new FakeDriver(new LoadError('wrk failed: it is ill.')))
    assert.equal(rate, null)
    assert.deepEqual(warnings, [{ kind: 'ceiling-unknown', reason: 'wrk failed: it is ill' }])
  })

  test('is unknown after an interruption, without a word', async () => {
    const { rate, warnings } = await measure(new FakeDriver({ errors: { reset: 2 } }), AbortSignal.abort())
    assert.deepEqual([rate, warnings], [null, []])
    const dying = new FakeDriver(new LoadError('The generator process has ended.'), 300)
    assert.deepEqual(await measure(dying, AbortSignal.abort()), { rate: null, warnings: [] })
  })
})
