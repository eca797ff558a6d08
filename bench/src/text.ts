/** Sentences and columns for people. */

/** Widest line of a table or a report. */
export const COLUMNS = 80

/** Breaks a text at spaces so that lines stay within 80 columns; later lines are indented. */
export function wrap(text: string, indent = ''): string {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > COLUMNS) {
      lines.push(line)
      line = `${indent}${word}`
    } else {
      line = line === '' ? word : `${line} ${word}`
    }
  }
  return [...lines, line].join('\n')
}

/**
 * What a person needs of a message, without the full stop: its first line; where that points into a source file, the error that
 * Node prints some lines below takes the place of the path.
 */
export function oneLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  const [first = '', ...others] = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const thrown = others.find((line) => /^\w*Error\b/.test(line))
  const line = thrown === undefined ? first : first.replace(/\S+:\d+$/, () => thrown)
  return line.slice(0, 300).replace(/\.$/, '')
}

/** `3 rounds`, `1 round` */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
