import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'
import { personsEnvironment, toolsOf } from '../../../src/servers/command/program.ts'

test('servers get the programs of the person, not those of the package manager that started us', () => {
  const place = mkdtempSync(join(tmpdir(), 'startgrid-path-'))
  const { PATH: path, npm_package_name: name } = process.env
  const [ours, theirs, cached] = ['ours', 'theirs', '_npx/1'].map((folder) => {
    const directory = join(place, folder, 'node_modules/.bin')
    mkdirSync(directory, { recursive: true })
    return directory
  })
  try {
    symlinkSync(process.execPath, join(ours ?? '', 'node'))
    process.env.npm_package_name = 'startgrid'
    process.env.PATH = [ours, cached, '/x/node-gyp-bin', theirs, '/usr/bin'].join(delimiter)
    const environment = personsEnvironment()
    assert.equal(environment.PATH, [theirs, '/usr/bin'].join(delimiter))
    assert.equal(environment.npm_package_name, undefined)
    process.env.PATH = ours
    assert.equal(toolsOf(place), 'neither node nor bun')
  } finally {
    Object.assign(process.env, { PATH: path })
    if (name === undefined) delete process.env.npm_package_name
    else process.env.npm_package_name = name
    rmSync(place, { recursive: true })
  }
})
