import { match, ok } from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { whyNotInstalled } from '../../studies/installed.ts'
import { upgrades } from '../../studies/upgrades/study.ts'

test('each system is a program that is there, of versions that are in the lockfile', () => {
  for (const { title, command } of Object.values(upgrades.systems)) {
    ok(command, title)
    const words = /node_modules\/(\S+)\/bin\/\S+ (\S+) ?(\S*)$/.exec(command.command) ?? []
    const [, runtime = '', file = '', name = ''] = words
    ok(existsSync(join(command.directory, file)), file)
    const lock = readFileSync(join(command.directory, 'package-lock.json'), 'utf8')
    for (const installed of [runtime, name].filter((one) => one !== '' && one !== 'prototypes'))
      match(lock, new RegExp(`"(?:node_modules/)?${installed}": \\{`), installed)
  }
})

test('what is not installed is left out, and says why', () => {
  match(whyNotInstalled('/nowhere', 'node20', false) ?? '', /are not installed: that would be a download$/)
})
