import { equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { startNode } from '@startgrid/cli/test-programs.ts'

/** The suite that the apps share must find what the contract's suite cannot see: no route of the apps hands over a fetched response. */
test('a response that keeps the id it came with is found', async () => {
  const defect = fileURLToPath(new URL('fixtures/keeps-foreign-id.ts', import.meta.url))
  const { code, stdout } = await startNode(['--test', '--test-name-pattern=the id, and', defect]).ended
  equal(code, 1)
  match(stdout, /\/foreign x-request-id/)
})
