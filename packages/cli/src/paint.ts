import { styleText } from 'node:util'

/** Colour on a terminal: it only repeats what the text says. */

export type Format = Parameters<typeof styleText>[0]

/** @returns a function that leaves text as it is without colour or without a format; else line by line, so that a pager that cuts lines shows them right */
export function painter(color: boolean): (format: Format | null, text: string) => string {
  return (format, text) => {
    if (!color || format === null || text === '') return text
    const lines = text.split('\n').map((line) => styleText(format, line, { validateStream: false }))
    return lines.join('\n')
  }
}
