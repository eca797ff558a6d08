import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Spinner } from '../src/spin.ts'

test('a spin has used CPU time; after its end it is not known', async () => {
  const spinner = await Spinner.start(null)
  for (let spin = 0; spin < 3; spin++) {
    const { cpuSeconds } = (await spinner.spin()) ?? { cpuSeconds: 0 }
    assert.ok(cpuSeconds > 0)
  }
  await spinner.stop()
  await spinner.stop()
  assert.equal(await spinner.spin(), null)
})
