import { doesNotThrow, throws } from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { requireAssets } from '../../src/http/assets.ts'

test('a file that a page names, but that is not there, is one sentence', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'startgrid-assets-'))
  t.after(() => rm(directory, { recursive: true }))
  for (const name of ['a.js', 'b.css']) await writeFile(join(directory, name), '')
  const require = (...urls: string[]) => {
    return () => requireAssets(urls, pathToFileURL(`${directory}/`))
  }
  doesNotThrow(require('/assets/a.js', '/assets/b.css'))
  throws(require('/assets/a.js', '/assets/d.js'), {
    name: 'StartError',
    message: `${join(directory, 'd.js')} cannot be read, but the page needs it: build first.`,
  })
})
