import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { BENCH } from '../../src/cli/command-line.ts'
import { helpOfCommand } from '../../src/cli/program.ts'
import { STUDIES } from '../../studies/index.ts'

const { name: program, commands, help: screen } = BENCH
const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

const PAGES = globSync(['*.md', 'docs/**/*.md', '{apps,bench,packages,nginx,scripts,action}/**/*.md'], {
  cwd: ROOT,
  exclude: ['**/node_modules', 'bench/results'],
})

/** What pages name, with the parts that the expression finds. */
function namedInPages(expression: RegExp) {
  const named = PAGES.flatMap((page) =>
    [...readFileSync(`${ROOT}${page}`, 'utf8').matchAll(expression)].map(([text, command = '', name]) => ({
      ...{ page, text, command, name },
    })),
  )
  assert.ok(named.length > 20)
  return named
}

/** Of pnpm itself, and of the package in whose directory one is. */
const OTHER_SCRIPTS = ['install', 'exec', 'start']

test('every script that a page names is there', () => {
  const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'))
  for (const { page, text, command } of namedInPages(/(?:`|^)(?:npx )?pnpm(?:@12)? ([a-z][a-z:-]*)/gm))
    assert.ok(command in scripts || OTHER_SCRIPTS.includes(command), `${page}: ${text}`)
})

test('every command and every study that a page names is there', () => {
  const named = namedInPages(/pnpm(?:@12)? bench ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?/g)
  for (const { page, text, command, name } of named) {
    assert.ok(command in commands, `${page}: ${text}`)
    if (command === 'study' && name !== undefined)
      assert.ok(
        STUDIES.some((study) => study.name === name),
        `${page}: ${text}`,
      )
  }
})

test('the help is one screen of 24 lines, that of each command one of 40, of 80 columns', () => {
  assert.ok(screen.trimEnd().split('\n').length < 24, 'the prompt is the last line')
  for (const help of [screen, ...Object.values(commands).map((one) => helpOfCommand(program, one))]) {
    const lines = help.trimEnd().split('\n')
    assert.ok(lines.length < 40, help)
    for (const line of lines) assert.ok(line.length <= 80, line)
  }
})

test('the help loads no library that only a run needs', () => {
  const hook = `import { registerHooks } from 'node:module'
registerHooks({
  load(url, context, next) {
    if (/\\/node_modules\\/(?:linkedom|selfsigned|autocannon|typebox)\\/.*js$/.test(url)) process.stderr.write(url)
    return next(url, context)
  },
})`
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(hook)}`, MAIN, '--help'],
    { encoding: 'utf8' },
  )
  assert.deepEqual([status, stderr], [0, ''])
})
