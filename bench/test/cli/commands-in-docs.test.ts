import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { BENCH } from '../../src/cli/command-line.ts'
import { helpOfCommand } from '../../src/cli/program.ts'
import { STUDIES } from '../../studies/index.ts'

const { name: program, commands, help: screen } = BENCH
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
    assert.ok(command in commands, `${page}: ${text}`)
    if (command === 'study' && name !== undefined)
      assert.ok(
        STUDIES.some((study) => study.name === name),
        `${page}: ${text}`,
      )
  }
})

test('the help is one screen of 24 lines, and each command tells all its options within 80 columns', () => {
  assert.ok(screen.trimEnd().split('\n').length < 24, 'the prompt is the last line')
  for (const help of [screen, ...Object.values(commands).map((one) => helpOfCommand(program, one))])
    for (const line of help.split('\n')) assert.ok(line.length <= 80, line)
})
