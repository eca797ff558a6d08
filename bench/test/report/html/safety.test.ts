import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { Result } from '../../../src/model/result.ts'
import { documentOf } from '../../../src/report/grid.ts'
import { formatHtml } from '../../../src/report/html/page.ts'
import { all, pageOf, textOf } from '../../fixtures/page.ts'
import { rateResult } from '../../fixtures/results.ts'
import { withFigures } from '../../fixtures/small-race.ts'

/** report.html can be sent to anybody and opened anywhere. */

test('the policy allows the one style sheet of the page, and nothing else', () => {
  const page = pageOf(rateResult())
  const policy =
    page.querySelector('meta[http-equiv="content-security-policy"]')?.getAttribute('content') ?? ''
  const style = page.querySelector('style')?.innerHTML ?? ''
  const hash = createHash('sha256').update(style).digest('base64')
  assert.match(policy, /^default-src 'none'; /)
  assert.ok(policy.includes(`style-src 'sha256-${hash}'`))
  assert.doesNotMatch(policy, /script-src/)
  assert.doesNotMatch(policy, /unsafe|https?:/)
  assert.deepEqual([all(page, 'style').length, all(page, 'script').length], [1, 0])
  assert.deepEqual(all(page, '[style], [onclick], [src], link:not([href="data:,"])'), [])
})

test('whatever is put in stays text', () => {
  const evil = `</script></style><script>alert(1)</script><img src=x onerror="alert(1)">"'&`
  const result = rateResult()
  const hostile: Result = {
    ...result,
    command: evil,
    machine: { ...result.machine, cpu: evil, os: evil },
    versions: { ...result.versions, packages: { [evil]: evil } },
    warnings: [{ kind: 'not-saved', text: evil }],
    cells: result.cells.map((cell) => ({
      ...cell,
      title: cell.title === 'koa' ? evil : cell.title,
      engine: cell.engine && evil,
      workload: evil,
      skipped: cell.skipped && evil,
    })),
  }
  const withFindings = withFigures(hostile, (figures) => ({ void: figures.void && evil }))
  const page = pageOf(withFindings)
  assert.equal(all(page, 'script').length, 0)
  assert.equal(all(page, 'style').length, 1)
  assert.deepEqual(all(page, 'img, [onerror]'), [])
  assert.ok(textOf(page).includes('<script>alert(1)</script>'))
  assert.equal(pageOf(hostile).querySelector('pre')?.textContent, evil)
})

test('is small enough to be sent', () => {
  assert.ok(formatHtml(documentOf(rateResult())).length < 1.5e6)
})
