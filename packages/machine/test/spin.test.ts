import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Spinner } from '../src/spin.ts'

test('a spin has used CPU time, and no more than it lasted; after its end it is not known', async () => {
  const spinner = await Spinner.start(null)
  for (let spin = 0; spin < 3; spin++) {
    const { cpuSeconds, wallSeconds } = (await spinner.spin()) ?? { cpuSeconds: 0, wallSeconds: 0 }
    assert.ok(cpuSeconds > 0)
    // The clock of the CPU time may be ahead by a tick.
    assert.ok(wallSeconds > cpuSeconds - 0.01, `${cpuSeconds} s of CPU in ${wallSeconds} s`)
  }
  await spinner.stop()
  await spinner.stop()
  assert.equal(await spinner.spin(), null)
})
