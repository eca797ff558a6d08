import { formatTimestamp } from '@startgrid/cli/numbers.ts'
import { isRanked, isStudy } from '../result/experiment.ts'
import type { Result } from '../result/result.ts'
import type { Document, Findings } from './document.ts'
import { findingsOfGrid } from './grid.ts'
import { provenanceOf } from './provenance.ts'
import { findingsOfRace } from './race.ts'
import { findingsOfStudy } from './study.ts'

/** What a result says: the ranks of apps, the claims of a study, or what commands differ by; all else is the same. */
export function documentOf(result: Result): Document {
  const { startedAt, finishedAt, warnings, command } = result
  const { subject, chart, sections, conditions, ...found } = findingsOf(result)
  const interrupted = 'Interrupted: not everything that was planned was measured.'
  const notes = [...conditions, ...provenanceOf(result)]
  return {
    ...found,
    subject: `${subject}, ${formatTimestamp(startedAt)}`,
    warnings: [...(finishedAt === null ? [interrupted] : []), ...warnings.map(({ text }) => text)],
    ...(chart !== undefined && { chart }),
    sections: [...sections, { title: 'Where it comes from', notes, place: 'folded' }],
    command,
  }
}

function findingsOf(result: Result): Findings {
  if (Object.values(result.experiment.races).some(isRanked)) return findingsOfGrid(result)
  return isStudy(result.experiment) ? findingsOfStudy(result) : findingsOfRace(result)
}
