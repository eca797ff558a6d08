import { deepEqual, match, ok } from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { isProbe, publishedRatio } from '../../src/result/experiment.ts'
import { PUBLISHED as SOURCES, STUDIES } from '../../studies/index.ts'
import { whyNotInstalled } from '../../studies/installed.ts'
import { upgrades } from '../../studies/upgrades/study.ts'

const PAGE = readFileSync(new URL('../../../docs/studies/README.md', import.meta.url), 'utf8')

test('the page of all studies has every claim of a source with its published ratio', () => {
  const rows = PAGE.split('\n').map((line) => line.split('|').map((cell) => cell.trim()))
  const shown = rows.map(([, , says, ratio]) => `${says}: ${ratio}`)
  for (const claim of SOURCES.flatMap(({ claims }) => claims))
    ok(shown.includes(`${claim.says}: ${publishedRatio(claim).toFixed(2)}`), claim.says)
})

for (const study of STUDIES) {
  describe(study.name, () => {
    test('every name that it uses is there', () => {
      const inRace = (race: string, systems: Iterable<string>) => {
        for (const system of systems)
          ok(study.races[race]?.systems.includes(system), `${system} in race ${race}`)
      }
      for (const { race, against = race, over, under } of study.claims) {
        inRace(race, [over])
        inRace(against, [under])
      }
      for (const { race, from, to } of study.steps ?? []) inRace(race, [from, to])
      for (const { systems } of Object.values(study.races))
        for (const system of systems) ok(study.systems[system], `system ${system}`)
    })

    test('every system takes part, and its title fits a table', () => {
      const used = new Set(Object.values(study.races).flatMap(({ systems }) => systems))
      deepEqual([...used].toSorted(), Object.keys(study.systems).toSorted())
      for (const { title } of Object.values(study.systems)) ok(title.length <= 30, title)
    })

    test('one workload per race compares alike: systems under load have a target of their own', () => {
      for (const race of Object.values(study.races)) {
        if (isProbe(race)) continue
        for (const system of race.systems) {
          const { app, command, nginx } = study.systems[system] ?? {}
          ok(app ?? command ?? nginx, system)
        }
      }
    })

    test('a reason with figures is whole sentences', () => {
      const measured = {
        value: (_race: string, system: string) => (system.length % 7) * 1e-5 + 1e-5,
        cpu: () => ({ app: 3e-5, proxy: 2e-5 }),
        upstreamConnections: () => 1,
        coreUse: () => 0.9,
        openRate: () => 1000,
      }
      for (const { because, id } of study.claims) {
        const text = because?.(measured) ?? 'None.'
        ok(/^[A-Z].*\.$/.test(text) && !/undefined|NaN|null|Infinity|\?/.test(text), `${id}: ${text}`)
      }
    })

    test('a reason without figures is left out, instead of a sentence with holes', () => {
      const nothing = () => undefined
      const measured = {
        value: nothing,
        cpu: () => ({ app: undefined, proxy: undefined }),
        upstreamConnections: nothing,
        coreUse: nothing,
        openRate: nothing,
      }
      for (const { because } of study.claims) {
        const text = because?.(measured) ?? ''
        ok(!/undefined|NaN|null/.test(text), text)
      }
    })
  })
}

test('each system is a program that is there, of versions that are in the lockfile', () => {
  for (const { title, command } of Object.values(upgrades.systems)) {
    ok(command, title)
    const words = /node_modules\/(\S+)\/bin\/\S+ (\S+).* (\S+)$/.exec(command.command) ?? []
    const [, runtime = '', file = '', name = ''] = words
    ok(existsSync(join(command.directory, file)), file)
    const lock = readFileSync(join(command.directory, 'package-lock.json'), 'utf8')
    for (const installed of [runtime, name].filter((one) => !['bun', 'http', 'prototypes'].includes(one)))
      match(lock, new RegExp(`"(?:node_modules/)?${installed}": \\{`), installed)
  }
})

test('what is not installed is left out, and says why', () => {
  match(whyNotInstalled('/nowhere', 'node20', false) ?? '', /are not installed: that would be a download$/)
})
