import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { COMMANDS } from '../../src/cli/command-line.ts'
import { STUDIES } from '../../studies/index.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

test('every command and every study that a page names is there', () => {
  const pages = globSync(['*.md', 'docs/**/*.md', '{bench,packages,nginx,scripts,action}/**/*.md'], {
    cwd: ROOT,
    exclude: ['**/node_modules', 'bench/results', 'docs/decisions'],
  })
  const named = pages.flatMap((page) =>
    [
      ...readFileSync(`${ROOT}${page}`, 'utf8').matchAll(/pnpm bench ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?/g),
    ].map(([text, command = '', name]) => ({ page, text, command, name })),
  )
  assert.ok(named.length > 20)
  for (const { page, text, command, name } of named) {
    assert.ok(command in COMMANDS, `${page}: ${text}`)
    if (command === 'study' && name !== undefined)
      assert.ok(
        STUDIES.some((study) => study.name === name),
        `${page}: ${text}`,
      )
  }
})
