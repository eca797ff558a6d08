import { styleText } from 'node:util'

/** Colour on a terminal. It only repeats what the text says. */

export type Format = Parameters<typeof styleText>[0]

/** @returns a function that formats line by line, because pagers cut lines. Without colour or format, the text stays unchanged */
export function painter(color: boolean): (format: Format | null, text: string) => string {
  return (format, text) => {
    if (!color || format === null || text === '') return text
    const lines = text.split('\n').map((line) => styleText(format, line, { validateStream: false }))
    return lines.join('\n')
  }
}
