import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { findApps } from '../../grid/src/apps.ts'
import { type Launch, launch, NEVER_SHED } from '../../grid/src/launcher.ts'
import { CHECKS, checkConformance, formatReport } from '../src/contract/runner.ts'
import { startProxy } from './altering-proxy.ts'
import { DEFECTS } from './defects.ts'

for (const role of ['hello', 'ssr'] as const) {
  describe(`${role} of apps/node through a proxy`, () => {
    let app: Launch
    before(async () => {
      const [found] = findApps(`node/${role}`)
      assert.ok(found)
      app = await launch(found, { env: { ...NEVER_SHED, LOG_LEVEL: 'info' } })
    })
    after(() => app?.stop())

    test('that changes nothing: no difference', async () => {
      const { target, close } = await startProxy(app.target)
      const report = await checkConformance({ target, role, log: app.output }).finally(close)
      assert.deepEqual(report.differences, [], formatReport(report))
      assert.deepEqual(report.skipped, [])
    })

    for (const defect of DEFECTS.filter((one) => one.role === role)) {
      const { name, check, compressed = false, log: change = (line) => [line] } = defect
      test(`${name}: '${check}' finds it`, async () => {
        const { target, close } = await startProxy(app.target, defect.log === undefined ? defect : undefined)
        let before = 0
        const log = () => {
          const lines = app.output().slice(before).split('\n')
          const changed = lines.flatMap((line) => (line.startsWith('{') ? change(JSON.parse(line)) : []))
          return changed.map((line) => JSON.stringify(line)).join('\n')
        }
        try {
          // A check of the log waits until its time is over.
          for (const timeoutMs of [...(defect.log ? [500] : []), 5_000, 50_000]) {
            before = app.output().length
            const options = { target, role, compressed, only: check, log, timeoutMs }
            const report = await checkConformance(options)
            assert.deepEqual(report.failed, [check])
            // It found the defect, and not that the machine is slow.
            if (!/within \d+ ms/.test(formatReport(report))) return
          }
          assert.fail('no response in time')
        } finally {
          close()
        }
      })
    }
  })
}

test('the table has a defect for every check', () => {
  const covered = new Set(DEFECTS.map(({ check }) => check))
  const missing = CHECKS.map(({ name }) => name).filter((name) => !covered.has(name))
  assert.deepEqual(missing, [])
})
