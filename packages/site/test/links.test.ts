import assert from 'node:assert/strict'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { before, test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'
import { startNode } from '@startgrid/cli/test-programs.ts'
import { parseHTML } from 'linkedom'
import { PAGES, ROOT } from '../src/documents.ts'
import { BASE, output, REPOSITORY } from './fixtures/built-site.ts'

/** The built pages, published below a path: every link has a place to lead to. */

/** What pages point at, and the names inside of each, by address below the base. */
const targets: { from: string; link: string }[] = []
const names = new Map<string, ReadonlySet<string>>()

before(() => {
  for (const file of globSync('**/*.html', { cwd: output })) {
    const { document } = parseHTML(readFileSync(join(output, file), 'utf8'))
    const address = `/${file.replace(/index\.html$/, '')}`
    names.set(address, new Set([...document.querySelectorAll('[id]')].map(({ id }) => id)))
    for (const element of document.querySelectorAll('[href], [src]'))
      targets.push({ from: address, link: element.getAttribute('href') ?? element.getAttribute('src') ?? '' })
  }
})

test('every document of the repository and the five pages are there', () => {
  const documents = globSync('docs/**/*.md', { cwd: ROOT })
  assert.ok(names.size >= documents.length + PAGES.length, String(names.size))
  for (const { path } of PAGES) assert.ok(names.has(path), path)
})

test('all links and anchors resolve', () => {
  const broken = targets.filter(({ from, link }) => !resolves(from, link))
  assert.deepEqual(broken, [])
})

test('every document can be reached from Home', () => {
  const reached = new Set(['/'])
  for (const address of reached)
    for (const { from, link } of targets)
      if (from === address && link.startsWith(BASE))
        reached.add(`/${link.slice(BASE.length).replace(/#.*/, '')}`)
  assert.deepEqual(
    [...names.keys()].filter((address) => !reached.has(address)),
    [],
  )
})

test('--serve shows them until Ctrl-C', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'site-'))
  const cli = join(ROOT, 'packages/site/src/cli.ts')
  const { child, ended } = startNode([cli, '--serve', '--output', directory])
  let printed = ''
  for await (const text of child.stderr.setEncoding('utf8')) {
    printed += text
    const address = /Server at (\S+)\n/.exec(stripVTControlCharacters(printed))?.[1]
    if (address === undefined) continue
    assert.match(await (await fetch(address)).text(), /<h1>Startgrid<\/h1>/)
    child.kill('SIGINT')
    break
  }
  const { code } = await ended
  rmSync(directory, { recursive: true, force: true })
  assert.equal(code, 0)
})

function resolves(from: string, link: string): boolean {
  if (link.startsWith(REPOSITORY)) return existsSync(join(ROOT, link.slice(REPOSITORY.length)))
  if (/^(?:https?|mailto|data):/.test(link)) return true
  const { pathname, hash } = new URL(link, `http://site${BASE}${from.slice(1)}`)
  if (!pathname.startsWith(BASE)) return false
  const address = `/${relative(BASE, pathname)}${pathname.endsWith('/') ? '/' : ''}`.replace('//', '/')
  if (hash !== '') return names.get(address)?.has(decodeURIComponent(hash.slice(1))) ?? false
  return names.has(address) || existsSync(join(output, address))
}
