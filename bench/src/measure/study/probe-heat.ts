import { oneLine } from '@startgrid/cli/text.ts'
import { type Random, shuffle } from '@startgrid/stats/random.ts'
import { isQuiet } from '../../judge/study/launch-figures.ts'
import type { ProbeRace } from '../../model/study.ts'
import type { StudyHeat, StudyProbe } from '../../model/study-result.ts'
import type { StudyHeatOptions } from './heat-options.ts'

/** One after the other, shuffled: each has the machine to itself. What others disturbed is measured once more at the end. */
export async function probeAll(
  options: StudyHeatOptions,
  race: ProbeRace,
  record: StudyHeat,
  random: Random,
): Promise<void> {
  const systems = shuffle(options.cells, random).map(({ system }) => system)
  const disturbed: string[] = []
  for (const [index, system] of systems.entries()) {
    options.onProgress(index / systems.length)
    const probe = await probeOne(options, race, record, system)
    if (probe !== undefined && !isQuiet(probe)) disturbed.push(system)
  }
  for (const system of disturbed) await probeOne(options, race, record, system)
}

/** @returns undefined if there is nothing to record: it was aborted, or it failed */
async function probeOne(
  { quick, signal }: StudyHeatOptions,
  race: ProbeRace,
  record: StudyHeat,
  system: string,
): Promise<StudyProbe | undefined> {
  if (signal.aborted) return undefined
  let foreign: number | null = null
  const onForeign = (part: number) => {
    foreign = part
  }
  try {
    const figures = await race.probe(system, { signal, quick, onForeign })
    const probe = { system, figures, foreign }
    record.probes.push(probe)
    return probe
  } catch (error) {
    if (!signal.aborted) record.failures.push({ system, reason: oneLine(error) })
    return undefined
  }
}
