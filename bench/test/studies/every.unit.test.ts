import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { newDirectory } from '@startgrid/cli/test-programs.ts'
import { planCells } from '../../src/experiment/cells.ts'
import { isProbe, publishedRatio } from '../../src/result/experiment.ts'
import { PUBLISHED as SOURCES, STUDIES } from '../../studies/index.ts'
import { whyNotInstalled } from '../../studies/installed.ts'
import { overhead } from '../../studies/overhead/study.ts'
import { runtimes } from '../../studies/runtimes/study.ts'
import { upgrades } from '../../studies/upgrades/study.ts'

const PAGE = readFileSync(new URL('../../../docs/studies/README.md', import.meta.url), 'utf8')

test('the page of all studies has every claim of a source with its published ratio', () => {
  const rows = PAGE.split('\n').map((line) => line.split('|').map((cell) => cell.trim()))
  const shown = rows.map(([, , says, ratio]) => `${says}: ${ratio}`)
  for (const claim of SOURCES.flatMap(({ claims }) => claims))
    ok(shown.includes(`${claim.says}: ${publishedRatio(claim).toFixed(2)}`), claim.says)
})

for (const { name, systems, races, claims, steps = [] } of STUDIES)
  describe(name, () => {
    test('every system that it names is there, takes part, and has a title that fits a table', () => {
      const inRace = (race: string, system: string) =>
        ok(races[race]?.systems.includes(system), `${system} in race ${race}`)
      for (const { race, against = race, over, under } of claims) {
        inRace(race, over)
        inRace(against, under)
      }
      for (const { race, from, to } of steps) for (const system of [from, to]) inRace(race, system)
      const used = new Set(Object.values(races).flatMap((race) => race.systems))
      deepEqual([...used].toSorted(), Object.keys(systems).toSorted())
      for (const { title } of Object.values(systems)) ok(title.length <= 30, title)
    })

    test('one workload per race compares alike: systems under load have a target of their own', () => {
      for (const race of Object.values(races))
        for (const system of isProbe(race) ? [] : race.systems) {
          const { app, command, nginx } = systems[system] ?? {}
          ok(app ?? command ?? nginx, system)
        }
    })
  })

for (const { name, systems } of [upgrades, runtimes])
  test(`${name}: each system is a program that is there, of versions that are in the lockfile`, () => {
    for (const { title, command } of Object.values(systems)) {
      ok(command, title)
      const words = /node_modules\/((?:@\w+\/)?[^/]+)\/(?:bin\/\S+|deno run --allow-all) (\S+).* (\S+)$/
      const [, runtime = '', file = '', last = ''] = words.exec(command.command) ?? []
      ok(existsSync(join(command.directory, file)), file)
      const lock = readFileSync(join(command.directory, 'package-lock.json'), 'utf8')
      const installed = [runtime, ...(name === 'upgrades' ? [last] : [])]
      for (const one of installed.filter((one) => !['bun', 'http', 'prototypes'].includes(one)))
        match(lock, new RegExp(`"(?:node_modules/)?${one}": \\{`), one)
    }
  })

test('versions that are not installed, or by another lockfile than that of today, are left out, and say why', (t) => {
  const directory = newDirectory(t)
  const write = (file: string, text: string) => writeFileSync(join(directory, file), text)
  const why = (runtime?: string) => whyNotInstalled(directory, runtime, false)
  const absent = 'the versions that it compares are not installed: that would be a download'
  write('package-lock.json', 'one')
  equal(why(), absent)
  mkdirSync(join(directory, 'node_modules'))
  write('node_modules/.installed-lock.json', 'one')
  deepEqual([why(), why('node20')], [null, 'there is no node20 for this machine'])
  write('package-lock.json', 'another')
  equal(why(), absent)
})

test('overhead: what has duties keeps the contract, and what has none is not asked to', () => {
  const proven = planCells(overhead).filter(({ role }) => role !== null)
  const ways = new Set(proven.map(({ app }) => app.split(' ').at(-1)))
  deepEqual(ways, new Set(['app', 'logged', 'direct', 'ours', 'ours-naive']))
})
