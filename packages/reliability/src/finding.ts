import { oneLine } from '@startgrid/cli/text.ts'

/** What was seen of a server under a fault. */
export interface Finding {
  /** Which row of the report it is, if not the one that is tried. */
  readonly row?: string
  readonly kind: 'ok' | 'warning' | 'fault' | 'not tested'
  /** What it does, in a word: `lost`, `grows`, `ok`. */
  readonly word: string
  /** A sentence with a figure. */
  readonly text: string
  /** No busy machine explains it. */
  readonly isCertain?: true
}

/** A finding in a report: what was tried, such as `slow reader`. */
export type Row = Finding & { readonly row: string }

export const found = (word: string, text: string): Finding => ({ kind: 'fault', word, text })

/** The server has ended, or a count is wrong. */
export const certain = (word: string, text: string): Finding => ({ ...found(word, text), isCertain: true })

export const warned = (text: string): Finding => ({ kind: 'warning', word: 'warning', text })

export const fine = (text: string): Finding => ({ kind: 'ok', word: 'ok', text })

export const untested = (text: string): Finding => ({ kind: 'not tested', word: 'not tested', text })

/** @param problems a sentence each @param right what it does if there is none */
export function judged(problems: Iterable<string>, right: string): readonly Finding[] {
  const all = [...problems].map((problem) => certain('fails', problem))
  return all.length > 0 ? all : [fine(right)]
}

/**
 * What a busy machine may explain counts if it is found three times in a row; so does an attempt that fails.
 * @param row that is tried
 */
export async function confirmed(
  row: string,
  attempt: () => Promise<Finding | readonly Finding[]>,
): Promise<readonly Row[]> {
  let suspects: readonly string[] | undefined
  for (let left = 2; ; left--) {
    const tried = await attempt().catch((error: unknown) => found('fails', oneLine(error)))
    const seen = [tried].flat().map((one) => ({ row, ...one }))
    const doubted = seen.filter(({ kind, isCertain }) => kind === 'fault' && !isCertain)
    const again = doubted.filter((one) => suspects?.includes(one.row) ?? true)
    if (left === 0 || again.length === 0) {
      const isOnce = (one: Row) => doubted.includes(one) && !again.includes(one)
      return seen.map((one) => (isOnce(one) ? { ...one, ...warned(`not every time: ${one.text}`) } : one))
    }
    suspects = again.map((one) => one.row)
  }
}
