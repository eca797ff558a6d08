import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { FRAMEWORKS, ROLES } from '@startgrid/grid/apps.ts'

/** Code asks the catalogue for a trait of a framework, and never for its name. So a new one needs its folder and its entry. */

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Sources that may name frameworks. Tests may, as samples. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'apps/': 'a folder for each framework',
  'packages/grid/src/frameworks.ts': 'the catalogue',
  'bench/studies/': 'a study is about the frameworks of its source',
  'bench/simulation/': 'worlds of made-up servers with the names of an old race',
}

const names = FRAMEWORKS.join('|')
/** Names that mean nothing else: node and bun are also runtimes, njs is a module of NGINX, too. */
const own = FRAMEWORKS.filter((name) => !['node', 'bun', 'njs'].includes(name)).join('|')

const COMPARISONS = [
  new RegExp(`\\b(?:framework|package)\\b\\)? *[!=]== *'(?:apps/)?(?:${names})'`),
  new RegExp(
    `\\b(?:framework|app|name|package)\\.(?:startsWith|endsWith|includes)\\('(?:apps/)?(?:${names})\\b`,
  ),
  new RegExp(`'(?:${own})(?:/(?:${ROLES.join('|')}))?'`),
  new RegExp(`^ +'?(?:${own})'?: `),
  new RegExp(`['"\`/](?:apps|@startgrid)/(?:${names})['"\`/]`),
]

test('no source compares with the name of a framework', () => {
  const files = execFileSync('git', ['ls-files', '*.ts', '*.tsx'], { cwd: ROOT, encoding: 'utf8' })
    .trim()
    .split('\n')
    .filter(
      (file) => !/\/test\//.test(file) && !Object.keys(EXCEPTIONS).some((path) => file.startsWith(path)),
    )
  const found = files.flatMap((file) =>
    readFileSync(`${ROOT}${file}`, 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        !/^\s*(?:\*|\/\/|\/\*\*)/.test(line) && COMPARISONS.some((pattern) => pattern.test(line))
          ? [`${file}:${index + 1}: ${line.trim()}`]
          : [],
      ),
  )
  assert.deepEqual(found, [], `Make it a trait in packages/grid/src/frameworks.ts:\n${found.join('\n')}`)
})
