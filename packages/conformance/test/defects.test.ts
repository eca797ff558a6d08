import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CHECKS } from '../src/contract/checks/index.ts'
import { checkConformance } from '../src/index.ts'
import { DEFECTS } from './reference/defects/index.ts'
import { startReference } from './reference/server.ts'

describe('every defect is found by the check for it', { concurrency: 4 }, () => {
  for (const { name, role, check, behaviour, absent = [], compressed = false } of DEFECTS) {
    test(`${role}: ${name}`, async () => {
      const reference = await startReference(role, behaviour)
      const find = async (): Promise<boolean> => {
        const report = await checkConformance({
          target: reference.target,
          role,
          absent,
          proxied: compressed,
          compressed,
          only: check,
          log: reference.log,
          timeoutMs: 3000,
        })
        return report.differences.some((difference) => difference.check === check)
      }
      try {
        // A machine that stands still for a moment can hide a response that came too early.
        const isFound = (await find()) || (await find()) || (await find())
        assert.ok(isFound, `'${check}' saw no difference`)
      } finally {
        await reference.close()
      }
    })
  }
})

test('the table has a defect for every check', () => {
  const covered = new Set(DEFECTS.map(({ check }) => check))
  const missing = CHECKS.map(({ name }) => name).filter((name) => !covered.has(name))
  assert.deepEqual(missing, [])
})
